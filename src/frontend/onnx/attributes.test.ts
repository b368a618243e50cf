import { expect, test } from 'vitest';
import { NodeAttributes } from './attributes.ts';
import { readMessage } from './protobuf/read-message.ts';

const empty = new Uint8Array();
const LARGEST = 2n ** 63n - 1n;

function attributesOf(given: { name: string; type?: number; i?: bigint; ints?: BigInt64Array }) {
  const attribute = { ...readMessage('AttributeProto', empty), ...given };
  const node = { ...readMessage('NodeProto', empty), attribute: [attribute] };
  return new NodeAttributes(node, 'node "n" (Op)');
}

test('an integer is exact as a tensor, and the nearest safe number otherwise', () => {
  const typed = attributesOf({ name: 'k', type: 2, i: LARGEST });
  expect(typed.exactInts('k')?.data).toEqual(BigInt64Array.of(LARGEST));
  expect(typed.exactInts('k')?.shape).toEqual([]);
  expect(typed.int('k')).toBe(Number.MAX_SAFE_INTEGER);
  expect(attributesOf({ name: 'k', i: -LARGEST }).exactInts('k')?.data).toEqual(
    BigInt64Array.of(-LARGEST),
  );
  expect(attributesOf({ name: 'k', type: 2 }).exactInts('k')?.data).toEqual(BigInt64Array.of(0n));
});

test('so is a list', () => {
  const ints = BigInt64Array.of(1n, LARGEST);
  const attributes = attributesOf({ name: 'k', type: 7, ints });
  expect(attributes.exactInts('k')?.data).toEqual(ints);
  expect(attributes.ints('k')).toEqual([1, Number.MAX_SAFE_INTEGER]);
  expect(attributes.exactInts('other')).toBeUndefined();
});
