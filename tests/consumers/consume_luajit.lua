-- SPDX-License-Identifier: Apache-2.0
-- Reads the preprocessed header with LuaJIT's ffi, unedited, and scans a vector with the library.
--
--     LIBRARY=libvscan.so luajit consume_luajit.lua HEADER.i VERSION

local ffi = require("ffi")

local file = assert(io.open(arg[1]))
ffi.cdef(file:read("*a"))
file:close()

local vscan = ffi.load(os.getenv("LIBRARY"))
assert(ffi.string(vscan.vscan_version_text()) == arg[2])
assert(vscan.vscan_version() == vscan.VSCAN_VERSION)

local function ok(status)
    assert(status == vscan.VSCAN_OK, ffi.string(vscan.vscan_status_name(status)))
end

local ctx, buffer = ffi.new("vscan_ctx *[1]"), ffi.new("vscan_buffer *[1]")
local options = ffi.new("vscan_ctx_options", {size = ffi.sizeof("vscan_ctx_options"),
                                              backend = vscan.VSCAN_BACKEND_CPU})
local values = ffi.new("int32_t[5]", {3, 1, 4, 1, 5})
ok(vscan.vscan_ctx_create(options, ctx))
ok(vscan.vscan_buffer_create(ctx[0], vscan.VSCAN_INT, 5, buffer))
ok(vscan.vscan_buffer_upload(buffer[0], 0, 5, values))
ok(vscan.vscan_scan(ctx[0], vscan.VSCAN_PLUS, buffer[0], buffer[0], nil))
ok(vscan.vscan_buffer_download(buffer[0], 0, 5, values))
ok(vscan.vscan_buffer_destroy(buffer[0]))
ok(vscan.vscan_ctx_destroy(ctx[0]))

local plain = ffi.new("int32_t[5]", {3, 1, 4, 1, 5})
ok(vscan.vscan_host_scan(vscan.VSCAN_PLUS, vscan.VSCAN_INT, vscan.VSCAN_INCLUSIVE,
                         vscan.VSCAN_FORWARD, plain, 5, plain))
assert(plain[4] == 14)

local got = {}
for i = 0, 4 do got[i + 1] = tonumber(values[i]) end
print(table.concat(got, " "))
assert(table.concat(got, " ") == "3 4 8 9 14")
