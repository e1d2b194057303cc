#!/bin/sh
# A dial and a gauge as an instrument of tuner, in plain shell.
#
#   [[device]]
#   name = "bench"
#   driver = "exec"
#   command = ["sh", "dial.sh"]
#
# Put your own commands into set_dial, get_dial and get_load: a vendor's tool, a file
# under /sys, a curl. The dial that stands here is a file; the gauge is this computer's
# load. tuner asks on standard input, one JSON object a line, and reads answers from
# standard output; other text goes to standard error, where it becomes tuner's log.
# `tuner exec-test sh dial.sh` checks the result.
#
# A shell has no JSON parser. What stands here reads the requests of tuner, which puts
# no blanks between keys and values, and no more than this instrument needs.

dial_file=${DIAL_FILE:-$(mktemp)}

set_dial() { printf '%s\n' "$1" > "$dial_file"; }
get_dial() { cat "$dial_file"; }
get_load() { cut -d ' ' -f 1 /proc/loadavg; }

keep= # not empty: the dial stays as it is when tuner has ended

go_safe() {
    trap '' HUP INT TERM # going safe is not interrupted
    [ -z "$keep" ] || return 0
    set_dial 0
    echo 'I! safe' >&2
}
trap 'go_safe; exit 0' HUP INT TERM

refuse() { printf '{"id":%s,"ok":false,"error":{"code":"%s","message":"%s","retry":false}}\n' "$id" "$1" "$2"; }

# number KEY: the number after "KEY": in the request, or nothing.
number() { printf '%s' "$request" | sed -n 's/.*"'"$1"'":\(-\{0,1\}[0-9][0-9.eE+-]*\).*/\1/p'; }

# others TEXT: what is left of a list or an object without the two channels.
others() { printf '%s' "$1" | sed 's/"dial"//; s/"load"//; s/,//g'; }

answer_read() {
    names=$(printf '%s' "$request" | sed -n 's/.*"channels":\[\([^]]*\)\].*/\1/p')
    if [ -n "$(others "$names")" ]; then
        refuse unknown_channel "the channels are dial and load"
        return
    fi
    values=
    case $request in *'"dial"'*) values="\"dial\":$(get_dial)" ;; esac
    case $request in *'"load"'*) values="${values:+$values,}\"load\":$(get_load)" ;; esac
    printf '{"id":%s,"ok":true,"values":{%s}}\n' "$id" "$values"
}

answer_write() {
    names=$(printf '%s' "$request" | sed -n 's/.*"values":{\([^}]*\)}.*/\1/p' | sed 's/:[^,]*//g')
    if [ "$names" != '"dial"' ]; then
        refuse read_only "only the dial can be set"
        return
    fi
    set_dial "$(number dial)"
    printf '{"id":%s,"ok":true,"values":{"dial":%s}}\n' "$id" "$(get_dial)"
}

set_dial 0
echo '{"protocol":"tuner-exec/1","name":"bench","holds":true,"channels":[{"name":"dial","unit":"1","access":"rw","min":0,"max":10,"safe":0,"release":false},{"name":"load","unit":"1","access":"r"}]}'
while IFS= read -r request; do
    id=$(number id)
    [ -n "$id" ] || break # no request: go safe and end
    case $request in
        *'"op":"read"'*) answer_read ;;
        *'"op":"write"'*) keep=; answer_write ;;
        *'"op":"safe"'*) keep=; set_dial 0; printf '{"id":%s,"ok":true}\n' "$id" ;;
        *'"op":"bye"'*) # the end of a run that is at rest: the dial may have to stay as it is
            case $request in *'"dial"'*) keep=1 ;; *) keep= ;; esac
            printf '{"id":%s,"ok":true}\n' "$id" ;;
        *) refuse unknown_op "this operation is not known here" ;;
    esac
done
go_safe
