# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# ruby hello.rb libvscan.so
require "fiddle/import"

module Vscan
  # The functions of vscan.h, as they are.
  module C
    extend Fiddle::Importer
    dlload ARGV[0]
    extern "int vscan_host_scan(int op, int type, int kind, int direction, void *in, long long n, void *out)"
    extern "int vscan_ctx_create(void *options, void *ctx)"
    extern "int vscan_ctx_destroy(void *ctx)"
    extern "int vscan_ctx_synchronize(void *ctx)"
    extern "const char *vscan_ctx_last_error(void *ctx)"
    extern "int vscan_buffer_wrap(void *ctx, int type, void *pointer, long long n, void *buffer)"
    extern "int vscan_buffer_destroy(void *buffer)"
    extern "int vscan_scan(void *ctx, int op, void *in, void *out, void *options)"
  end

  PLUS, INT, INCLUSIVE, EXCLUSIVE, FORWARD, ON_CPU = 31, 11, 0, 81, 0, 91 # as in vscan.h

  class Error < StandardError; end

  def self.check(status, ctx = nil)
    raise Error, "status #{status}: #{C.vscan_ctx_last_error(ctx)}" unless status.zero?
  end

  # Options of any call, longer than in vscan.h: the rest is 0.
  def self.options(first) = [256, first].pack("qlx244")

  # The running sums of an array: one call.
  def self.sums(array)
    out = "\0" * (4 * array.size)
    check(C.vscan_host_scan(PLUS, INT, INCLUSIVE, FORWARD, array.pack("l*"), array.size, out))
    out.unpack("l*")
  end

  # For many calls, or a GPU. Given to a block, it is destroyed after it, and its vectors with it.
  class Context
    attr_reader :handle

    def self.open
      ctx = new
      yield ctx
    ensure
      C.vscan_ctx_destroy(ctx.handle) if ctx
    end

    def initialize
      made = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
      Vscan.check(C.vscan_ctx_create(Vscan.options(ON_CPU), made))
      @handle = made.ptr
    end

    def scan(source, out, kind)
      Vscan.check(C.vscan_scan(@handle, PLUS, source.handle, out.handle, Vscan.options(kind)), @handle)
    end

    def synchronize = Vscan.check(C.vscan_ctx_synchronize(@handle), @handle)
  end

  # Memory that stays where it is; the buffer is that memory itself.
  class Vector
    attr_reader :handle

    def initialize(ctx, array)
      @ctx = ctx
      @bytes = 4 * array.size
      @memory = Fiddle::Pointer.malloc(@bytes, Fiddle::RUBY_FREE)
      @memory[0, @bytes] = array.pack("l*")
      made = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
      Vscan.check(C.vscan_buffer_wrap(ctx.handle, INT, @memory, array.size, made), ctx.handle)
      @handle = made.ptr
    end

    def to_a
      @ctx.synchronize
      @memory[0, @bytes].unpack("l*")
    end
  end
end

v = [3, 1, 4, 1, 5, 9, 2, 6]
puts Vscan.sums(v).join(" ")

Vscan::Context.open do |ctx|
  source = Vscan::Vector.new(ctx, v)
  out = Vscan::Vector.new(ctx, [0] * 8)
  ctx.scan(source, out, Vscan::EXCLUSIVE)
  puts out.to_a.join(" ")
  ctx.scan(source, Vscan::Vector.new(ctx, [0] * 7), Vscan::INCLUSIVE)
rescue Vscan::Error => e
  puts e.message
end
