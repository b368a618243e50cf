import { expect, test } from 'vitest';
import { AdtValue, type Value } from '../../runtime/values/value.ts';
import { loadProgram } from '../testing/load-program.ts';

const UPTO = `
  def @upto(%n: int, %list: List[int]) -> List[int] {
    if (%n) { @upto(int_sub(%n, #1), Cons(%n, %list)) } else { %list }
  }`;

/** A machine has 100,000 frames. */
const MORE_THAN_FRAMES = 120_000;

/** Functions of the prelude over a list of n elements, with sums that tell whether each was there, in order. */
const PROGRAMS: readonly (readonly [
  name: string,
  body: string,
  expected: (n: number) => number,
])[] = [
  ['@map', '@last(@map(fn (%x) { int_mul(%x, #2) }, %list), #0)', (n) => 2 * n],
  ['@foldl', '@foldl(fn (%a, %x) { int_sub(%x, %a) }, #0, %list)', (n) => n / 2],
  ['@foldr', '@foldr(fn (%x, %a) { int_sub(%x, %a) }, #0, %list)', (n) => -n / 2],
  ['@reverse', '@last(@reverse(%list), #0)', () => 1],
  ['@append', '@length(@append(%list, %list))', (n) => 2 * n],
  ['@nth', '@nth(%list, int_sub(%n, #1))', (n) => n],
  [
    '@zip',
    '@foldl(fn (%a, %p) { int_add(%a, int_sub(%p.0, %p.1)) }, #0, @zip(%list, @reverse(%list)))',
    () => 0,
  ],
];

test.each(PROGRAMS)('%s of lists that are longer than the stack', async (_, body, expected) => {
  const { run, vm } = await loadProgram(`${UPTO}
    def @last(%list: List[int], %before: int) -> int {
      match (%list) { Cons(%head, %tail) => @last(%tail, %head), Nil => %before }
    }
    def @main(%n: int) -> int { let %list = @upto(%n, Nil); ${body} }`);
  expect(await run('main', MORE_THAN_FRAMES)).toBe(expected(MORE_THAN_FRAMES));
  vm.dispose();
});

test('@map takes a million elements; the list is a result, and freed', async () => {
  const { vm } = await loadProgram(`${UPTO}
    def @main(%n: int) -> List[int] { @map(fn (%x) { int_add(%x, #1) }, @upto(%n, Nil)) }`);
  const result = await vm.get('main')(1_000_000);
  let count = 0;
  for (let at: Value = result; at instanceof AdtValue && at.fields.length === 2; count++) {
    const [head, tail] = at.fields;
    if (head !== count + 2 || tail === undefined) break;
    at = tail;
  }
  expect(count).toBe(1_000_000);
  vm.release(result);
  vm.dispose();
});
