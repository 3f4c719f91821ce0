# bash completion for proxbench
_proxbench() {
  COMPREPLY=()
  # bash takes words apart at '=' and ':'; those with no blank between them are one.
  local line=${COMP_LINE#*"${COMP_WORDS[0]}"} part i
  local -a words=()
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    part=${COMP_WORDS[i]}
    if [[ ${#words[@]} -eq 0 || $line == [[:blank:]]* ]]; then words+=("$part"); else words[-1]+=$part; fi
    line=${line#"${line%%[![:blank:]]*}"}
    line=${line#"$part"}
  done
  [[ $part == [=:]* ]] && part=
  local prefix=${words[-1]%"$part"} program=${COMP_WORDS[0]/#\~/$HOME} answer file
  local list=${part%"${part##*,}"}
  while IFS=$'\t' read -r answer _; do
    case $answer in
      :folders | :files*)
        compopt -o filenames 2>/dev/null
        while IFS= read -r file; do
          [[ $answer == :folders || ($answer == ':files '* && $file != *"${answer#:files }") ]] &&
            [[ ! -d ${file/#\~/$HOME} ]] && continue
          COMPREPLY+=("$list$file")
        done < <(compgen -f -- "${part##*,}")
        ;;
      *)
        [[ $answer == *[=.,] ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${answer#"$prefix"}")
        ;;
    esac
  done < <("$program" __complete "${words[@]}" 2>/dev/null)
}
complete -F _proxbench proxbench
