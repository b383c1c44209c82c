# machines.awk -- makes a C file of the machine files that are its arguments.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

BEGIN {
   print "/* Made by machines.awk from tlbgrind/machines; do not edit. */"
   print ""
   print "#include \"sim/machine/builtin.h\""
}

FNR == 1 {
   finish()
   name = FILENAME
   sub(/.*\//, "", name)
   sub(/\.machine$/, "", name)
   names[++n] = name
   printf "\nstatic const char text_%d[] =", n
}

{
   gsub(/\\/, "\\\\")
   gsub(/"/, "\\\"")
   printf "\n   \"%s\\n\"", $0
}

END {
   finish()
   print "\nstatic const tlb_builtin all[] = {"
   for (i = 1; i <= n; i++)
      printf "   { \"%s\", text_%d, sizeof text_%d - 1 },\n", names[i], i, i
   print "};\n"
   printf "enum { N = %d };\n\n", n
   print "unsigned tlb_n_builtins(void)\n{\n   return N;\n}\n"
   print "const tlb_builtin *tlb_builtin_at(unsigned i)\n{\n   return i < N ? &all[i] : NULL;\n}"
}

function finish()
{
   if (n > 0)
      print ";"
}
