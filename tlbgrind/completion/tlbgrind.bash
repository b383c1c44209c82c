# bash completion for tlbgrind, tg_annotate, tg_faults, tg_measure, tg_native, tg_order, tg_report and tg_simulate.  -*- shell-script -*-
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# Each command lists its own options with --list-options, so a new option needs no line here.
# A line of that list is NAME, or NAME= KIND WORD..., where KIND is one (of the words), some (with
# commas between them), machine, file, folder or any.

declare -A _tlbgrind_lists # by command; asked for once in a shell

# Fills COMPREPLY with values of an option of command $1, whose list has "$2" behind its name.
_tlbgrind_values ()
{
   local kind=${2%% *} words= value=$3 before=
   [[ $2 != *' '* ]] || words=${2#* }
   if [[ $kind == some || $kind == machine ]] && [[ $value == *,* ]]; then
      before=${value%,*},
      value=${value##*,}
   fi
   [[ $kind != machine ]] || words="host default $("$1" --list-machines 2>/dev/null | awk 'NR > 1 { print $1 }')"
   mapfile -t COMPREPLY < <(
      [[ -z $words ]] || compgen -W "$words" -- "$value"
      [[ $kind != machine && $kind != file ]] || compgen -f -- "$value"
      [[ $kind != folder ]] || compgen -d -- "$value"
   )
   case $kind in
      machine | file | folder) compopt -o filenames 2>/dev/null ;;
   esac
   COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

# Fills COMPREPLY for the word $2 of command $1, which begins with a dash.
_tlbgrind_option ()
{
   local command=${1/#\~/$HOME} word=$2 line
   [[ -n ${_tlbgrind_lists[$command]} ]] || _tlbgrind_lists[$command]=$("$command" --list-options 2>/dev/null)
   while read -r line; do
      if [[ $word != *=* ]]; then
         [[ $line != "$word"* ]] || COMPREPLY+=("${line%% *}")
      elif [[ $line == "${word%%=*}= "* ]]; then
         _tlbgrind_values "$command" "${line#* }" "${word#*=}"
         COMPREPLY=("${COMPREPLY[@]/#/${word%%=*}=}")
      fi
   done <<<"${_tlbgrind_lists[$command]}"
   # A value follows, no blank.
   [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
   _tlbgrind_shorten "$word"
}

# Bash ends words at "=" and ":", too, and replaces only what stands behind the last of these.
_tlbgrind_shorten ()
{
   local word=$1 kept
   [[ $COMP_WORDBREAKS == *=* ]] || word=${word//=/-}
   [[ $COMP_WORDBREAKS == *:* ]] || word=${word//:/-}
   kept=${word%"${word##*[=:]}"}
   COMPREPLY=("${COMPREPLY[@]:+${COMPREPLY[@]#"${1:0:${#kept}}"}}")
}

_tlbgrind_files ()
{
   mapfile -t COMPREPLY < <(compgen -f -- "$1")
   compopt -o filenames 2>/dev/null
   _tlbgrind_shorten "$1"
}

_tlbgrind_companion ()
{
   local line=${COMP_LINE:0:COMP_POINT}
   local word=${line##*[[:space:]]}
   COMPREPLY=()
   case $word in
      -*) _tlbgrind_option "$1" "$word" ;;
      *) _tlbgrind_files "$word" ;;
   esac
}

# Options, then a program, then what that program takes.
_tlbgrind ()
{
   local line=${COMP_LINE:0:COMP_POINT} place=1
   local word=${line##*[[:space:]]}
   COMPREPLY=()
   # In COMP_WORDS an option's value follows it as two more words, "=" and the value.
   while [[ $place -lt $COMP_CWORD && ${COMP_WORDS[place]} == [-=:]* ]]; do
      [[ ${COMP_WORDS[place]} == -* ]] || place=$((place + 1))
      place=$((place + 1))
   done
   if [[ $word == -* && $place -ge $COMP_CWORD ]]; then
      _tlbgrind_option "$1" "$word"
   elif [[ $place -ge $COMP_CWORD ]]; then
      mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -d -- "$word")
      compopt -o filenames 2>/dev/null
   elif declare -F _command_offset >/dev/null; then
      _command_offset "$place"
   else
      _tlbgrind_files "$word"
   fi
}

complete -F _tlbgrind tlbgrind tg_native
complete -F _tlbgrind_companion tg_annotate tg_faults tg_measure tg_order tg_report tg_simulate
