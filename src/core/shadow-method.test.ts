import { expect, test } from 'vitest';
import { shadowMethod } from './shadow-method.ts';

class Counter {
  count = 0;

  add(by: number): number {
    this.count += by;
    return this.count;
  }
}

test('a shadow runs in place of a method of one object, and ends in any order', () => {
  const [counter, other] = [new Counter(), new Counter()];
  const heard: string[] = [];
  const listen = (name: string) =>
    shadowMethod(counter, 'add', (add) => (by) => {
      heard.push(`${name} ${by}`);
      return add(by);
    });
  const [stopFirst, stopSecond] = [listen('first'), listen('second')];
  expect(counter.add(2)).toBe(2);
  expect(heard).toEqual(['second 2', 'first 2']);
  stopFirst();
  expect(counter.add(3)).toBe(5);
  expect(other.add(7)).toBe(7);
  expect(heard).toEqual(['second 2', 'first 2', 'second 3']);
  stopSecond();
  expect(counter.add(1)).toBe(6);
  expect(heard).toHaveLength(3);
  expect(Object.keys(Object.getOwnPropertyDescriptors(counter))).toEqual(['count']);
});
