# relative.awk -- prints the path from the folder in the first line to that in the second.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# By the names alone, as the folders need not be there yet. (Not every realpath can.)

{
   names[NR] = 0
   count = split($0, parts, "/")
   for (i = 1; i <= count; i++)
      if (parts[i] == "..") {
         if (names[NR] > 0) names[NR]--
      } else if (parts[i] != "" && parts[i] != ".")
         name[NR, ++names[NR]] = parts[i]
}

END {
   same = 0
   while (same < names[1] && same < names[2] && name[1, same + 1] == name[2, same + 1]) same++
   path = ""
   for (i = same + 1; i <= names[1]; i++) path = path "../"
   for (i = same + 1; i <= names[2]; i++) path = path name[2, i] "/"
   print path == "" ? "." : substr(path, 1, length(path) - 1)
}
