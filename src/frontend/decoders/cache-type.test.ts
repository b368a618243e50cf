import { describe, expect, test } from 'vitest';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import { printModule } from '../../compiler/ir/text/print.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { withCachesOf } from './cache-type.ts';
import type { Decoder } from './generation-module.ts';

const CACHE = { dtype: 'float32', shape: ['b', 2, 'c', 8] } as const;

/** A decoder of one layer, whose body is given. */
function decoder(body: string): Decoder {
  const text = `def @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32],
    %key: Tensor[(b, 2, c, 8), float32], %value: Tensor[(b, 2, c, 8), float32]) {
  %rows = broadcast_to(cast(reshape(%tokens, shape=[b, 1, s, 1]), to="float32"), shape=[b, 2, s, 8]);
  ${body}
}`;
  return { module: parseModule(text), vocabulary: 8, caches: [CACHE, CACHE] };
}

const APPENDED = `%keys = tensor_scatter(%key, %rows, %first, axis=2);
  %values = tensor_scatter(%value, %rows, %first, axis=2);`;

describe('caches of another type', () => {
  test('are appended to by rounded rows, and attention reads them as they are', () => {
    const exact = decoder(
      `${APPENDED} (cached_attention(%rows, %keys, %values, %first), %keys, %values)`,
    );
    expect(printModule(withCachesOf(exact, 'float16').module)).toMatchInlineSnapshot(`
      "def @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32], %key: Tensor[(b, 2, c, 8), float16], %value: Tensor[(b, 2, c, 8), float16]) {
        %0 = reshape(%tokens, shape=[b, 1, s, 1]);
        %1 = cast(%0, to="float32");
        %2 = broadcast_to(%1, shape=[b, 2, s, 8]);
        %3 = cast(%2, to="float16");
        %4 = tensor_scatter(%key, %3, %first, axis=2);
        %5 = cast(%2, to="float16");
        %6 = tensor_scatter(%value, %5, %first, axis=2);
        %7 = cached_attention(%2, %4, %6, %first);
        (%7, %4, %6)
      }
      "
    `);
    const rounded = withCachesOf(exact, 'int8');
    expect(printModule(rounded.module)).toMatchInlineSnapshot(`
      "def @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32], %key: Tensor[(b, 2, c, 8), int8], %value: Tensor[(b, 2, c, 8), int8], %key_scale: Tensor[(b, 2, c, 1), float32], %value_scale: Tensor[(b, 2, c, 1), float32]) {
        %0 = reshape(%tokens, shape=[b, 1, s, 1]);
        %1 = cast(%0, to="float32");
        %2 = broadcast_to(%1, shape=[b, 2, s, 8]);
        %3 = cast(%2, to="float32");
        %4 = abs(%3);
        %5 = reduce_max(%4, axes=[3], keepdims=true);
        %6 = div(%5, 127f);
        %7 = maximum(%6, 1e-30f);
        %8 = div(%3, %7);
        %9 = round(%8);
        %10 = cast(%9, to="int8");
        %11 = tensor_scatter(%key, %10, %first, axis=2);
        %12 = cast(%2, to="float32");
        %13 = abs(%12);
        %14 = reduce_max(%13, axes=[3], keepdims=true);
        %15 = div(%14, 127f);
        %16 = maximum(%15, 1e-30f);
        %17 = div(%12, %16);
        %18 = round(%17);
        %19 = cast(%18, to="int8");
        %20 = tensor_scatter(%value, %19, %first, axis=2);
        %21 = tensor_scatter(%key_scale, %7, %first, axis=2);
        %22 = tensor_scatter(%value_scale, %16, %first, axis=2);
        %23 = cached_attention(%2, %11, %20, %first, %21, %22);
        (%23, %11, %20, %21, %22)
      }
      "
    `);
    expect(rounded.caches.map(({ dtype }) => dtype)).toEqual([
      'int8',
      'int8',
      'float32',
      'float32',
    ]);
    expect(withCachesOf(exact, undefined)).toBe(exact);
  });

  test.each([
    [
      'scaled_dot_product_attention reads',
      `${APPENDED} (scaled_dot_product_attention(%rows, %keys, %values), %keys, %values)`,
      'got caches that scaled_dot_product_attention reads',
    ],
    [
      'are read before',
      `${APPENDED} (add(%rows, reduce_sum(%key, axes=[2], keepdims=true)), %keys, %values)`,
      'got caches that reduce_sum reads',
    ],
    [
      'are cast by the model',
      `${APPENDED} (add(%rows, reduce_sum(cast(%key, to="float32"), axes=[2], keepdims=true)), %keys, %values)`,
      'got caches that cast reads',
    ],
    [
      'nothing is appended to',
      `%keys = tensor_scatter(%key, %rows, %first, axis=2); (%rows, %keys, %value)`,
      'got a cache that is not appended to',
    ],
  ])('that %s are refused', (_, body, got) => {
    expect(() => withCachesOf(decoder(body), 'int8')).toThrow(UnsupportedError);
    expect(() => withCachesOf(decoder(body), 'int8')).toThrow(
      `language model, cacheType: ${got}, expected caches that are appended to and read by attention, without biases and sinks. Leave cacheType out: the caches then have the type that the model says.`,
    );
  });
});
