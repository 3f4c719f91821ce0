#compdef proxbench
# zsh completion for proxbench
_proxbench() {
  local line word
  local -a finished unfinished
  local -i nothing=1
  for line in "${(@f)$("${(Q)~words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :folders) compset -P '--*='; compset -P '*,'; _files -/ && nothing=0 ;;
      :files) compset -P '--*='; compset -P '*,'; _files && nothing=0 ;;
      :files*) compset -P '--*='; compset -P '*,'; _files -g "*${line#:files }" && nothing=0 ;;
      *)
        word=${line%%$'\t'*}
        [[ $line == *$'\t'* ]] && line="${word//:/\\:}:${line#*$'\t'}" || line=${word//:/\\:}
        if [[ $word == *[=.,] ]]; then unfinished+=("$line"); else finished+=("$line"); fi
        ;;
    esac
  done
  (( $#finished )) && _describe -V proxbench finished && nothing=0
  (( $#unfinished )) && _describe -V proxbench unfinished -S '' && nothing=0
  return nothing
}
if [[ ${funcstack[1]} == _proxbench ]]; then _proxbench "$@"; else compdef _proxbench proxbench; fi
