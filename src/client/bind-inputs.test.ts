import { describe, expect, test } from 'vitest';
import type { FunctionInfo } from '../worker/protocol.ts';
import { bindInputs, closest } from './bind-inputs.ts';
import { Tensor } from './tensor.ts';

const main: FunctionInfo = {
  name: 'main',
  params: [
    { name: 'image', type: { kind: 'tensor', dtype: 'float32', shape: ['n', 3] } },
    {
      name: 'mask',
      type: { kind: 'tensor', dtype: 'bool', shape: [{ op: 'add', left: 'n', right: 1 }] },
    },
    { name: 'steps', type: { kind: 'int' } },
  ],
  results: [],
};
const image = Tensor.from([[1, 2, 3]]);
const mask = Tensor.from([true, false]);

describe('bindInputs', () => {
  test('puts values in the order of the parameters', () => {
    expect(bindInputs(main, { steps: 3, mask, image })).toEqual([image, mask, 3]);
  });

  test('lists all wrong and missing names with suggestions', () => {
    expect(() =>
      bindInputs(main, { imgae: image, Mask: mask, extra: 1 }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: inputs of main: unknown "imgae", "Mask", "extra", missing "image", "mask", "steps"; expected "image", "mask", "steps". Did you mean "image" instead of "imgae"? Did you mean "mask" instead of "Mask"?]`,
    );
    expect(() => bindInputs({ ...main, params: [] }, { x: 1 })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: inputs of main: unknown "x"; expected no input.]`,
    );
  });

  test('lists all values whose types do not fit, symbolic dimensions included', () => {
    expect(() =>
      bindInputs(main, { image: Tensor.from([[1, 2]]), mask: Tensor.from([1]), steps: 1.5 }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: inputs of main: "image": got float32 (1, 2), expected float32 (n, 3); "mask": got float32 (1,), expected bool ((n + 1),) (n is 1 in "image"); "steps": got number 1.5, expected an integer (a plain number).]`,
    );
    expect(() =>
      bindInputs(main, { image, mask: Tensor.from([true]), steps: 1 }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: inputs of main: "mask": got bool (1,), expected bool ((n + 1),) (n is 1 in "image").]`,
    );
  });

  test('says when the data of a tensor was transferred before', () => {
    const data = Float32Array.of(1, 2, 3);
    const moved = new Tensor('float32', data, [1, 3]);
    structuredClone(data, { transfer: [data.buffer] });
    expect(() =>
      bindInputs(main, { image: moved, mask, steps: 1 }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: inputs of main: "image": got float32 (1, 3), expected its data, which was transferred by an earlier run.]`,
    );
  });
});

test('closest finds near names only', () => {
  expect(closest('logit', ['labels', 'logits'])).toBe('logits');
  expect(closest('x', ['image', 'mask'])).toBe(undefined);
  expect(closest('Input', ['Input3'])).toBe('Input3');
});
