#!/bin/sh
# The experiment's side of the exchange, in plain shell: wait for the input, read it,
# DELETE it, run, write the output. The cost is smallest at 1 A and 0 MHz. Put your own
# command in the place of awk.
while sleep 0.1; do
    [ -f exp_input.txt ] || continue
    params=$(sed 's/.*\[\(.*\)\].*/\1/' exp_input.txt) && rm exp_input.txt
    echo "cost = $(echo "$params" | awk -F, '{ print ($1 - 1)^2 + ($2 / 10)^2 }')" > exp_output.txt
done
