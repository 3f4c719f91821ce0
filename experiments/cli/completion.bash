# completion for proxbench in bash, and in zsh after bashcompinit; without an answer, names of files
_proxbench() {
  local word=${COMP_WORDS[COMP_CWORD]}
  [[ $word == = ]] && word=
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "$word"))
}
complete -o default -F _proxbench proxbench
