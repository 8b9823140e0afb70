-- SPDX-License-Identifier: Apache-2.0
-- cc -E -P vscan.h -o vscan.i && luajit hello.lua libvscan.so vscan.i
local ffi = require("ffi")
ffi.cdef(io.open(arg[2]):read("*a"))
local lib = ffi.load(arg[1])
assert(lib.vscan_version() == lib.VSCAN_VERSION)

local v = ffi.new("int32_t[8]", {3, 1, 4, 1, 5, 9, 2, 6})
local function options(name, members)
    members.size = ffi.sizeof(name)
    return ffi.new(name, members)
end
local ctx, wrapped = ffi.new("vscan_ctx *[1]"), ffi.new("vscan_buffer *[1]")
local on_cpu = options("vscan_ctx_options", {backend = lib.VSCAN_BACKEND_CPU})
assert(lib.vscan_ctx_create(on_cpu, ctx) == lib.VSCAN_OK)
assert(lib.vscan_buffer_wrap(ctx[0], lib.VSCAN_INT, v, 8, wrapped) == lib.VSCAN_OK)
for _, kind in ipairs({lib.VSCAN_INCLUSIVE, lib.VSCAN_EXCLUSIVE}) do -- wrapped is v itself, no copy
    local scan = options("vscan_scan_options", {kind = kind})
    assert(lib.vscan_scan(ctx[0], lib.VSCAN_PLUS, wrapped[0], wrapped[0], scan) == lib.VSCAN_OK)
    assert(lib.vscan_ctx_synchronize(ctx[0]) == lib.VSCAN_OK) -- before v is read
    for i = 0, 7 do io.write(v[i], i < 7 and " " or "\n") end
end
local refused = lib.vscan_scan(ctx[0], lib.VSCAN_PLUS, wrapped[0], nil, nil)
print("status " .. tonumber(refused) .. ": " .. ffi.string(lib.vscan_ctx_last_error(ctx[0])))
lib.vscan_buffer_destroy(wrapped[0]); lib.vscan_ctx_destroy(ctx[0])
