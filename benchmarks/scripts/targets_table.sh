# SPDX-License-Identifier: Apache-2.0
# The awk functions that targets.sh and targets_cpu.sh have in common; they read this with ".".
# shellcheck shell=sh disable=SC2034
table_functions='
# Set before the first row: width, the columns of its text.
function low(key, value, where) {
    if (!(key in least) || value < least[key]) { least[key] = value; least_at[key] = where }
}
function high(key, value, where) {
    if (!(key in most) || value > most[key]) { most[key] = value; most_at[key] = where }
}
function power(n,   k) {
    for (k = 0; n > 1 && n % 2 == 0; k++) n /= 2
    return n == 1 ? "2^" k : n
}
# figure(VALUE): a limit as it is written in the table; -: there is none
function figure(value) { return value == "" ? "-" : sprintf("%.3g", value) }
# reaches(VALUE, LIMIT, AT_LEAST)
function reaches(value, limit, at_least) {
    return limit != "" && (at_least ? value >= limit : value <= limit)
}
# row(TEXT, FLOOR, AIM, VALUE, WHERE, AT_LEAST, UNIT)
function row(text, lowest, aim, value, where, at_least, unit,   verdict) {
    if (value == "") { printf "%-" width "s not measured\n", text; return }
    verdict = lowest == "" ? "" : reaches(value, aim, at_least) ? "AIM" : \
              reaches(value, lowest, at_least) ? "met" : "NOT MET"
    printf "%-" width "s %2s %6s %6s %9.3f %-2s %-7s %s\n", text, lowest == "" ? "" : at_least ? ">=" : "<=",
        figure(lowest), figure(aim), value, unit, verdict, where
}
function head_of_table() {
    printf "%-" width "s    %6s %6s %9s    %-7s %s\n", "target", "floor", "aim", "reached", "",
        "the worst case"
}
'
