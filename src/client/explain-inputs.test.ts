import { describe, expect, test } from 'vitest';
import type { FunctionInfo } from '../worker/protocol/loaded-session.ts';
import { bindInputs } from './values/bind-inputs.ts';
import { nearest } from '../core/nearest-name.ts';
import { explainInputs } from './explain-inputs.ts';
import type { PlainInputs } from './values/input-value.ts';
import { Tensor } from './values/tensor.ts';

const main: FunctionInfo = {
  name: 'main',
  params: [
    { name: 'image', dtype: 'float32', shape: ['n', 3] },
    { name: 'mask', dtype: 'bool', shape: ['n', '?'] },
    { name: 'steps', dtype: 'int', shape: [] },
  ],
  results: [],
};
const image = Tensor.from([[1, 2, 3]]);
const mask = Tensor.from([[true, false]]);

/** The error that names the faults of inputs. */
function complaint(inputs: PlainInputs, info = main): Error {
  return explainInputs(info, inputs, bindInputs(info, inputs, undefined));
}

test('values come in the order of the parameters', () => {
  const { values, mismatches } = bindInputs(main, { steps: 3, mask, image }, undefined);
  expect(values).toEqual([image, mask, 3]);
  expect(mismatches).toEqual([]);
});

describe('explainInputs', () => {
  test('lists all wrong and missing names with suggestions', () => {
    expect(complaint({ imgae: image, Mask: mask, extra: 1 })).toMatchInlineSnapshot(
      `[UsageError: inputs of main: unknown "imgae", "Mask", "extra", missing "image", "mask", "steps"; expected "image", "mask", "steps". Did you mean "image" instead of "imgae"? Did you mean "mask" instead of "Mask"?]`,
    );
    expect(complaint({ x: 1 }, { ...main, params: [] })).toMatchInlineSnapshot(
      `[UsageError: inputs of main: unknown "x"; expected no input.]`,
    );
  });

  test('lists all values whose types do not fit, named dimensions included', () => {
    const wrong = { image: Tensor.from([[1, 2]]), mask: Tensor.from([1]), steps: 1.5 };
    expect(complaint(wrong)).toMatchInlineSnapshot(
      `[ShapeError: inputs of main: "image": got float32 (1, 2), expected float32 (n, 3); "mask": got float32 (1,), expected bool (n, ?) (n is 1 in "image"); "steps": got number 1.5, expected an integer (a plain number).]`,
    );
    expect(
      complaint({ image, mask: Tensor.from([[true], [true]]), steps: 1 }),
    ).toMatchInlineSnapshot(
      `[ShapeError: inputs of main: "mask": got bool (2, 1), expected bool (n, ?) (n is 1 in "image").]`,
    );
    expect(complaint({ image: 1, mask, steps: image })).toMatchInlineSnapshot(
      `[ShapeError: inputs of main: "image": got number 1, expected float32 (n, 3) (n is 1 in "mask"); "steps": got float32 (1, 3), expected an integer (a plain number).]`,
    );
  });

  test('says when the data of a tensor was transferred before', () => {
    const data = Float32Array.of(1, 2, 3);
    const moved = new Tensor('float32', data, [1, 3]);
    structuredClone(data, { transfer: [data.buffer] });
    expect(complaint({ image: moved, mask, steps: 1 })).toMatchInlineSnapshot(
      `[ShapeError: inputs of main: "image": got float32 (1, 3) whose data an earlier run took (transfer: true), expected float32 (n, 3) (n is 1 in "mask").]`,
    );
  });
});

test('nearest finds near names only', () => {
  expect(nearest('logit', ['labels', 'logits'])).toBe('logits');
  expect(nearest('x', ['image', 'mask'])).toBe(undefined);
  expect(nearest('Input', ['Input3'])).toBe('Input3');
});
