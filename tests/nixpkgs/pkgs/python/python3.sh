#!/bin/sh
# A stand-in for Python in a tree whose builds are shell: it runs a few statements of the language, enough to ask the
# packages of this tree what they are. POSIX sh without any other program.
#   import a.b [as c]; from a import b; assert EXPR [== LITERAL]; print(EXPR); EXPR
# EXPR is a literal or a dotted name, which may be called. Modules are folders with a file of attribute=value lines.
version=unset
prefix=${0%/bin/*}
minor=${version%.*}
names=' '

fail() { # CLASS MESSAGE
  echo 'Traceback (most recent call last):' >&2
  echo '  File "<string>", line 1, in <module>' >&2
  echo "$1${2:+: $2}" >&2
  exit 1
}

trim() {
  trimmed=$1
  while :; do
    case $trimmed in
      ' '*) trimmed=${trimmed# } ;;
      *' ') trimmed=${trimmed% } ;;
      *) return 0 ;;
    esac
  done
}

gpu_visible() {
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
    [ -n "$CUDA_VISIBLE_DEVICES" ] && [ "$CUDA_VISIBLE_DEVICES" != -1 ]
  else
    [ -e /dev/nvidiactl ]
  fi
}

# Code for the GPU that is leased: of its architecture, of an older one of the same generation, or PTX of an older one.
launch_kernel() { # TARGETS
  gpu_visible || fail RuntimeError 'No CUDA GPUs are available'
  device=${HYDRANT_GPU_ARCHITECTURE:-}
  [ -n "$device" ] || return 0
  for target in $1; do
    digits=${target#*_}
    digits=${digits%[a-z]}
    case $target in
      sm_*) [ "${digits%?}" = "${device%.*}" ] && [ "${digits#"${digits%?}"}" -le "${device#*.}" ] && return 0 ;;
      compute_*) [ "$digits" -le "${device%.*}${device#*.}" ] && return 0 ;;
    esac
  done
  fail RuntimeError 'CUDA error: no kernel image is available for execution on the device'
}

find_module() { # NAME
  site=$prefix/lib/python$minor/site-packages
  for folder in "${PYTHONPATH:-$site}" "$site"; do
    file=$folder/$1/__init__.attributes
    if [ -r "$file" ]; then return 0; fi
  done
  fail ModuleNotFoundError "No module named '$1'"
}

bind() { # NAME MODULE.PATH
  find_module "${2%%.*}"
  names=" $1=$2$names"
}

attribute() { # MODULE.PATH: sets value
  find_module "${1%%.*}"
  case $1 in
    *.*) ;;
    *) value="<module '$1' from '$file'>"; return 0 ;;
  esac
  while IFS='=' read -r key value; do
    if [ "$key" = "${1#*.}" ]; then return 0; fi
    case $key in
      "${1#*.}".*) value="<module '$1' from '$file'>"; return 0 ;;
    esac
  done < "$file"
  fail AttributeError "module '${1%%.*}' has no attribute '${1#*.}'"
}

evaluate() { # EXPR: sets value
  trim "$1"
  expression=$trimmed
  case $expression in
    True | False | None | [0-9]*) value=$expression; return 0 ;;
    \"*\") expression=${expression#\"}; value=${expression%\"}; return 0 ;;
    \'*\') expression=${expression#\'}; value=${expression%\'}; return 0 ;;
  esac
  expression=${expression%"()"}
  case $expression in
    '' | *[!A-Za-z0-9_.]*) fail SyntaxError "this stand-in for Python cannot evaluate: $trimmed" ;;
  esac
  head=${expression%%.*}
  case $names in
    *" $head="*) ;;
    *) fail NameError "name '$head' is not defined" ;;
  esac
  module=${names#*" $head="}
  module=${module%% *}
  attribute "$module${expression#"$head"}"
  case $value in
    gpu) if gpu_visible; then value=True; else value=False; fi ;;
    'kernel '*) launch_kernel "${value#kernel }"; value=None ;;
  esac
}

import() { # "a.b as c, d"
  rest=$1,
  while [ -n "$rest" ]; do
    trim "${rest%%,*}"
    rest=${rest#*,}
    case $trimmed in
      *' as '*) bind "${trimmed##* }" "${trimmed%% *}" ;;
      *) bind "${trimmed%%.*}" "${trimmed%%.*}" ;;
    esac
  done
}

statement() {
  trim "$1"
  case $trimmed in
    '' | '#'* | pass) ;;
    'import '*) import "${trimmed#import }" ;;
    'from '*' import '*)
      module=${trimmed#from }
      bind "${trimmed##* import }" "${module%% *}.${trimmed##* import }" ;;
    'assert '*' == '*)
      claim=${trimmed#assert }
      evaluate "${claim##* == }"
      expected=$value
      evaluate "${claim%% == *}"
      [ "$value" = "$expected" ] || fail AssertionError "'$value' is not '$expected'" ;;
    'assert '*)
      evaluate "${trimmed#assert }"
      case $value in
        False | None | 0 | '') fail AssertionError ;;
      esac ;;
    'print('*')')
      argument=${trimmed#print(}
      evaluate "${argument%)}"
      printf '%s\n' "$value" ;;
    *) evaluate "$trimmed" ;;
  esac
}

line() {
  remaining="$1;"
  while [ -n "$remaining" ]; do
    current=${remaining%%;*}
    remaining=${remaining#*;}
    statement "$current"
  done
}

program() {
  while IFS= read -r text || [ -n "$text" ]; do
    line "$text"
  done
}

case ${1:-} in
  -V | --version) echo "Python $version" ;;
  -c)
    program <<CODE
${2?Argument expected for the -c option}
CODE
    ;;
  '' | -) program ;;
  -*) echo "python3: unknown option $1" >&2; exit 2 ;;
  *)
    [ -r "$1" ] || { echo "python3: can't open file '$1'" >&2; exit 2; }
    program < "$1" ;;
esac
