/* SPDX-License-Identifier: Apache-2.0 */
#include "map_reference.h"

#include <math.h>

__extension__ typedef __int128 wide; /* holds every sum, product and shifted value of two longs */

bool maps_is_integer(vscan_type type) {
    return type == VSCAN_INT || type == VSCAN_LONG || type == VSCAN_UINT8;
}
bool maps_is_flag(vscan_type type) {
    return type == VSCAN_BYTE || type == VSCAN_BIT;
}

/* ---- One element ----------------------------------------------------------------------------- */

static wide integer_at(vscan_type type, const void *at) {
    if (type == VSCAN_UINT8) return *(const uint8_t *)at;
    return type == VSCAN_INT ? *(const int32_t *)at : *(const int64_t *)at;
}

/* Modulo 2^8, 2^32 or 2^64. */
static void put_integer(vscan_type type, void *at, wide x) {
    if (type == VSCAN_UINT8)
        *(uint8_t *)at = (uint8_t)x;
    else if (type == VSCAN_INT)
        *(uint32_t *)at = (uint32_t)x;
    else
        *(uint64_t *)at = (uint64_t)x;
}

static wide integer_unary(vscan_unary op, wide a) {
    switch (op) {
    case VSCAN_UNARY_NEGATE:
        return -a;
    case VSCAN_UNARY_NOT:
        return -a - 1;
    case VSCAN_UNARY_ABSOLUTE:
        return a < 0 ? -a : a;
    default:
        return a * a;
    }
}

static wide integer_binary(vscan_binary op, wide a, wide b, int bits) {
    const bool out_of_width = b < 0 || b >= bits;
    switch (op) {
    case VSCAN_BINARY_ADD:
        return a + b;
    case VSCAN_BINARY_SUBTRACT:
        return a - b;
    case VSCAN_BINARY_MULTIPLY:
        return a * b;
    case VSCAN_BINARY_DIVIDE:
        return b == 0 ? 0 : a / b;
    case VSCAN_BINARY_REMAINDER:
        return b == 0 ? a : a % b;
    case VSCAN_BINARY_MAX:
        return a > b ? a : b;
    case VSCAN_BINARY_MIN:
        return a < b ? a : b;
    case VSCAN_BINARY_AND:
        return a & b;
    case VSCAN_BINARY_OR:
        return a | b;
    case VSCAN_BINARY_XOR:
        return a ^ b;
    case VSCAN_BINARY_SHIFT_LEFT:
        return out_of_width ? 0 : a * ((wide)1 << b);
    default: {
        if (out_of_width) return a < 0 ? -1 : 0;
        const wide divisor = (wide)1 << b;
        return a >= 0 ? a / divisor : -((-a + divisor - 1) / divisor);
    }
    }
}

/* Maximum by 2019's rules; minimum is the negative of the maximum of negatives. */
static double maximum(double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}

/* As a double, of which a float's result is the rounded one: a double has more than twice as many
   bits, and then rounding twice gives what rounding once does. */
static double real_binary(vscan_binary op, double a, double b) {
    switch (op) {
    case VSCAN_BINARY_ADD:
        return a + b;
    case VSCAN_BINARY_SUBTRACT:
        return a - b;
    case VSCAN_BINARY_MULTIPLY:
        return a * b;
    case VSCAN_BINARY_DIVIDE:
        return a / b;
    case VSCAN_BINARY_MAX:
        return maximum(a, b);
    case VSCAN_BINARY_MIN:
        return -maximum(-a, -b);
    case VSCAN_BINARY_AND:
        return a != 0 && b != 0;
    case VSCAN_BINARY_OR:
        return a != 0 || b != 0;
    default:
        return (a != 0) != (b != 0);
    }
}

static double real_unary(vscan_unary op, double a) {
    switch (op) {
    case VSCAN_UNARY_NEGATE:
        return -a;
    case VSCAN_UNARY_NOT:
        return a == 0;
    case VSCAN_UNARY_ABSOLUTE:
        return signbit(a) ? -a : a;
    case VSCAN_UNARY_SQUARE:
        return a * a;
    case VSCAN_UNARY_FLOOR:
        return floor(a);
    case VSCAN_UNARY_CEIL:
        return ceil(a);
    case VSCAN_UNARY_ROUND_EVEN:
        return rint(a);
    default:
        return sqrt(a);
    }
}

static double real_at(vscan_type type, const void *at) {
    return type == VSCAN_FLOAT ? (double)*(const float *)at : *(const double *)at;
}

static void put_real(vscan_type type, void *at, double x) {
    if (type == VSCAN_FLOAT)
        *(float *)at = (float)x;
    else
        *(double *)at = x;
}

void maps_unary(vscan_unary op, vscan_type type, const void *a, void *out) {
    if (maps_is_integer(type))
        put_integer(type, out, integer_unary(op, integer_at(type, a)));
    else
        put_real(type, out, real_unary(op, real_at(type, a)));
}

void maps_binary(vscan_binary op, vscan_type type, const void *a, const void *b, void *out) {
    const int bits = type == VSCAN_INT ? 32 : 64;
    if (maps_is_integer(type))
        put_integer(type, out, integer_binary(op, integer_at(type, a), integer_at(type, b), bits));
    else
        put_real(type, out, real_binary(op, real_at(type, a), real_at(type, b)));
}

bool maps_related(vscan_relation relation, vscan_type type, const void *a, const void *b) {
    bool equal, less;
    if (maps_is_integer(type)) {
        equal = integer_at(type, a) == integer_at(type, b);
        less = integer_at(type, a) < integer_at(type, b);
    } else {
        const double x = real_at(type, a), y = real_at(type, b);
        if (isnan(x) || isnan(y)) return relation == VSCAN_NOT_EQUAL;
        equal = x == y;
        less = x < y;
    }
    switch (relation) {
    case VSCAN_EQUAL:
        return equal;
    case VSCAN_NOT_EQUAL:
        return !equal;
    case VSCAN_LESS:
        return less;
    case VSCAN_LESS_OR_EQUAL:
        return less || equal;
    case VSCAN_GREATER:
        return !less && !equal;
    default:
        return !less;
    }
}

/* ---- Conversion ------------------------------------------------------------------------------ */

static wide saturated(wide x, vscan_type to) {
    const wide most = to == VSCAN_UINT8 ? UINT8_MAX : to == VSCAN_INT ? INT32_MAX : INT64_MAX;
    const wide least = to == VSCAN_UINT8 ? 0 : -most - 1;
    return x > most ? most : x < least ? least : x;
}

void maps_convert(vscan_type from, const void *at, vscan_type to, void *out) {
    if (maps_is_integer(from) && maps_is_integer(to)) {
        put_integer(to, out, saturated(integer_at(from, at), to));
    } else if (maps_is_integer(from)) {
        /* not by way of double: that would round twice */
        if (to == VSCAN_FLOAT)
            *(float *)out = (float)(int64_t)integer_at(from, at);
        else
            *(double *)out = (double)(int64_t)integer_at(from, at);
    } else if (maps_is_integer(to)) {
        const double x = real_at(from, at);
        wide integer = 0;
        if (x >= 0x1p70)
            integer = (wide)1 << 70;
        else if (x <= -0x1p70)
            integer = -((wide)1 << 70);
        else if (!isnan(x))
            integer = (wide)x;
        put_integer(to, out, saturated(integer, to));
    } else {
        put_real(to, out, real_at(from, at));
    }
}

bool maps_truth(vscan_type type, const void *v, int64_t i) {
    if (maps_is_flag(type)) return maps_flag(type, v, i);
    const void *at = maps_at(type, v, i);
    return maps_is_integer(type) ? integer_at(type, at) != 0 : real_at(type, at) != 0;
}

/* ---- What there is --------------------------------------------------------------------------- */

bool maps_has_unary(vscan_unary op, vscan_type type) {
    if (type == VSCAN_UINT8) return false;
    if (maps_is_flag(type)) return op == VSCAN_UNARY_NOT;
    return op < VSCAN_UNARY_SQUARE_ROOT || !maps_is_integer(type);
}

bool maps_has_binary(vscan_binary op, vscan_type type) {
    if (type == VSCAN_UINT8) return false;
    if (maps_is_flag(type)) return op >= VSCAN_BINARY_AND && op <= VSCAN_BINARY_XOR;
    if (maps_is_integer(type)) return true;
    return op != VSCAN_BINARY_REMAINDER && op <= VSCAN_BINARY_XOR;
}
