-- SPDX-License-Identifier: Apache-2.0
-- cc -E -P vscan.h -o vscan.i && luajit hello.lua libvscan.so vscan.i
local ffi = require("ffi")
local header = assert(io.open(arg[2]))
ffi.cdef(header:read("*a"))
header:close()
local lib = ffi.load(arg[1])

local function check(status, ctx)
    if status ~= lib.VSCAN_OK then
        error(("status %d: %s"):format(tonumber(status), ffi.string(lib.vscan_ctx_last_error(ctx))), 0)
    end
end

local function options(name, members)
    members.size = ffi.sizeof(name)
    return ffi.new(name, members)
end

local function context_on_cpu()
    local made = ffi.new("vscan_ctx *[1]")
    check(lib.vscan_ctx_create(options("vscan_ctx_options", {backend = lib.VSCAN_BACKEND_CPU}), made))
    return ffi.gc(made[0], lib.vscan_ctx_destroy)
end

-- The array itself, no copy of it; it must live as long as the buffer.
local function wrap(ctx, array, n)
    local made = ffi.new("vscan_buffer *[1]")
    check(lib.vscan_buffer_wrap(ctx, lib.VSCAN_INT, array, n, made), ctx)
    return ffi.gc(made[0], lib.vscan_buffer_destroy)
end

local function show(v)
    for i = 0, 7 do io.write(v[i], i < 7 and " " or "\n") end
end

local v = ffi.new("int32_t[8]", {3, 1, 4, 1, 5, 9, 2, 6})
local sums, shorter = ffi.new("int32_t[8]"), ffi.new("int32_t[7]")
check(lib.vscan_host_scan(lib.VSCAN_PLUS, lib.VSCAN_INT, lib.VSCAN_INCLUSIVE, lib.VSCAN_FORWARD, v, 8, sums))
show(sums)

local ctx = context_on_cpu()
local source, out, too_short = wrap(ctx, v, 8), wrap(ctx, sums, 8), wrap(ctx, shorter, 7)
local exclusive = options("vscan_scan_options", {kind = lib.VSCAN_EXCLUSIVE})
check(lib.vscan_scan(ctx, lib.VSCAN_PLUS, source, out, exclusive), ctx)
check(lib.vscan_ctx_synchronize(ctx), ctx) -- before sums is read
show(sums)

local _, refused = pcall(function() check(lib.vscan_scan(ctx, lib.VSCAN_PLUS, source, too_short, nil), ctx) end)
print(refused)
