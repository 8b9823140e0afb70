# SPDX-License-Identifier: Apache-2.0
# ruby hello.rb libvscan.so
require "fiddle/import"
module Vscan
  extend Fiddle::Importer
  dlload ARGV[0]
  extern "int vscan_ctx_create(void *options, void *ctx)"
  extern "const char *vscan_ctx_last_error(void *ctx)"
  extern "int vscan_buffer_wrap(void *ctx, int type, void *pointer, long long n, void *buffer)"
  extern "int vscan_ctx_synchronize(void *ctx)"
  extern "int vscan_scan(void *ctx, int op, void *in, void *out, void *options)"
  PLUS, INT, EXCLUSIVE, ON_CPU = 31, 11, 81, 91 # as in vscan.h
  def self.options(first) = [256, first].pack("qlx244") # longer than in vscan.h: the rest is 0
end
v = Fiddle::Pointer[[3, 1, 4, 1, 5, 9, 2, 6].pack("l*")] # wrapped, no copy of it
ctx, wrapped = Fiddle::Pointer["\0" * 8], Fiddle::Pointer["\0" * 8]
Vscan.vscan_ctx_create(Vscan.options(Vscan::ON_CPU), ctx) == 0 or abort
Vscan.vscan_buffer_wrap(ctx.ptr, Vscan::INT, v, 8, wrapped) == 0 or abort
[nil, Vscan.options(Vscan::EXCLUSIVE)].each do |options|
  Vscan.vscan_scan(ctx.ptr, Vscan::PLUS, wrapped.ptr, wrapped.ptr, options) == 0 or abort
  Vscan.vscan_ctx_synchronize(ctx.ptr) == 0 or abort
  puts v[0, 32].unpack("l*").join(" ")
end
refused = Vscan.vscan_scan(ctx.ptr, Vscan::PLUS, wrapped.ptr, nil, nil)
puts "status #{refused}: #{Vscan.vscan_ctx_last_error(ctx.ptr)}"
