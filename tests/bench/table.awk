# SPDX-License-Identifier: BSD-3-Clause
# Makes the table of tests/bench/run. Input: its lines of figures, then what was measured, as
# "= WHO PROGRAM ROUND KEY VALUE UNIT", WHO being shoal, peer or raw.
#
# A figure that is judged by its limit (a target in x, or none) shows the round whose ratio is the
# median: both were measured there side by side. One with a target in ns, ms, ... shows the best.

$1 == "=" {
    value[$2, $3, $4, $5] = $6
    if ($2 == "raw")
        raw[$4, $5] = $6
    unit[$2, $5] = $7
    next
}
{ name[++figures] = $1; program[figures] = $2; limit_of[figures] = $3; target[figures] = $4 }

function has(who, i, r) { return (who, program[i], r, name[i]) in value }
function got(who, i, r) { return value[who, program[i], r, name[i]] }
function is_rate(i) { return unit["shoal", name[i]] ~ /\/s$/ }
function number(x) { return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x) }

# The limit of figure i in round r; 0 when a part of it was not measured.
function limit_in(i, r,    terms, n, k, parts, m, key, sum) {
    n = split(limit_of[i], terms, "+")
    for (k = 1; k <= n; k++) {
        m = split(terms[k], parts, "*")
        key = parts[m]
        if (("shoal", program[i], r, key) in value)
            sum += (m > 1 ? parts[1] : 1) * value["shoal", program[i], r, key]
        else if ((r, key) in raw)
            sum += (m > 1 ? parts[1] : 1) * raw[r, key]
        else
            return 0
    }
    return sum
}

# The round whose ratio to the limit is the median one; 0: no round has both.
function median_round(i,    r, n, k, x, order, ratio) {
    for (r = 1; r <= rounds; r++) {
        if (!has("shoal", i, r) || limit_in(i, r) <= 0)
            continue
        ratio[r] = got("shoal", i, r) / limit_in(i, r)
        for (k = n++; k > 0 && ratio[order[k]] > ratio[r]; k--)
            order[k + 1] = order[k]
        order[k + 1] = r
    }
    return n ? order[int((n + 1) / 2)] : 0
}

# The round in which WHO did best; 0: none.
function best_round(who, i,    r, at) {
    for (r = 1; r <= rounds; r++)
        if (has(who, i, r) && (!at || (is_rate(i) ? got(who, i, r) > got(who, i, at) \
                                                  : got(who, i, r) < got(who, i, at))))
            at = r
    return at
}

function least_limit(i,    r, x, least) {
    for (r = 1; r <= rounds; r++) {
        x = limit_in(i, r)
        if (x > 0 && (!least || (is_rate(i) ? x > least : x < least)))
            least = x
    }
    return least
}

# How far apart the cores were for the peer, in units of how far for Shoal; 1 where it is no matter
# or was not measured all the while.
function distance(i, r, pr,    a, b) {
    if (program[i] != "sync_2")
        return 1
    a = value["shoal", program[i], r, "one_line"]
    b = value["peer", program[i], pr, "one_line"]
    return a > 0 && b > 0 && (a > 1.2 * b || b > 1.2 * a) ? b / a : 1
}

function meets(t, shoal, limit,    bound) {
    if (t == "-")
        return 1
    bound = t
    gsub(/[^0-9.]/, "", bound)
    if (t ~ /x$/)
        shoal /= limit
    else if (t ~ /\+/)
        shoal -= limit
    return t ~ /^>/ ? (shoal >= bound + 0) : (shoal <= bound + 0)
}

function print_figure(i,    r, pr, shoal, limit, peer, ahead, far, verdict, u, t) {
    u = unit["shoal", name[i]]
    r = limit_of[i] != "-" && target[i] ~ /(x|^-)$/ ? median_round(i) : 0
    limit = r ? limit_in(i, r) : least_limit(i)
    if (!r)
        r = best_round("shoal", i)
    if (!r)
        return
    pr = r && has("peer", i, r) && target[i] ~ /(x|^-)$/ ? r : best_round("peer", i)
    shoal = got("shoal", i, r)
    far = 1
    if (pr) {
        peer = got("peer", i, pr)
        far = distance(i, r, pr)
        ahead = (is_rate(i) ? shoal / peer : peer / shoal) / far
    }
    verdict = target[i] == "-" && !pr ? "-" : "ok"
    if (target[i] ~ /x$/ && limit <= 0)
        verdict = "-"
    else if (!meets(target[i], shoal, limit) || pr && ahead < 0.97)
        verdict = "MISS"
    count[verdict]++
    t = target[i] ~ /(x|^-)$/ ? target[i] : target[i] " " u
    printf "%-21s %12s %12s %7s %-11s %-5s %13s %8s\n", name[i], number(shoal) " " u,
        (limit > 0 ? number(limit) " " u : "-"), (limit > 0 ? number(shoal / limit) : "-"), t,
        verdict, (pr ? number(peer) " " unit["peer", name[i]] : "-"),
        (pr ? sprintf("%.2fx", ahead) (far != 1 ? "~" : " ") : "- ")
}

function list_rounds(who, p, key,    r, s) {
    for (r = 1; r <= rounds; r++)
        if ((who, p, r, key) in value)
            s = s " " number(value[who, p, r, key])
    return s
}

function print_machine(    n, k, keys, r, x, line) {
    n = split("store load fetch_add compare_swap memcpy_4096 memcpy_65536 memcpy_1048576 " \
              "memcpy_4194304 one_line two_lines ring_line switch", keys, " ")
    for (k = 1; k <= n; k++) {
        x = 0
        for (r = 1; r <= rounds; r++)
            if ((r, keys[k]) in raw && (!x || raw[r, keys[k]] < x))
                x = raw[r, keys[k]]
        if (x)
            line = line (line ? ", " : "") keys[k] " " number(x)
    }
    print "Machine, ns: " line
    line = list_rounds("shoal", "sync_2", "one_line")
    if (line)
        print "One line from core to core, ns, round by round: Shoal's" line \
            (list_rounds("peer", "sync_2", "one_line") ? "; the peer's" : "") \
            list_rounds("peer", "sync_2", "one_line")
}

END {
    print_machine()
    printf "%-21s %12s %12s %7s %-11s %-5s %13s %8s\n", "figure", "Shoal", "limit", "ratio",
        "target", "", "peer", "ahead "
    for (i = 1; i <= figures; i++)
        print_figure(i)
    printf "%d ok, %d MISS\n", count["ok"], count["MISS"]
}
