import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCommand } from '../../../src/cli/testing/test-command.ts';
import { compile, parseModule } from '../../../src/compiler/index.ts';
import {
  array,
  configure,
  grad,
  If,
  type NdArray,
  random,
  vmap,
} from '../../../src/program/index.ts';
import { reasonOf } from '../../conformance/conformance-case.ts';
import type { Row } from './row.ts';

const MAX_SECONDS = 10;
const DERIVATIVES = '../shared/faults/polymorphic-gradient.ir';

const times = (count: number, write: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => write(i)).join('\n');

/** Programs that grow while they are compiled: they compile, or are refused with a place. */
const TEXTS: Readonly<Record<string, () => string>> = {
  '40 nested pairs': () => `def @main(%t0: Tensor[(1,), float32]) {
    ${times(40, (i) => `let %t${i + 1} = (%t${i}, %t${i});`)} %t40${'.0'.repeat(40)} }`,
  '25 polymorphic functions that double': () => `def @main(%x: Tensor[(1,), float32]) {
    let %f0 = fn <A>(%a: A) { (%a, %a).0 };
    ${times(25, (i) => `let %f${i + 1} = fn <A>(%a: A) { %f${i}(%f${i}(%a)) };`)} %f25(%x) }`,
  'a match of a 40-tuple with 120 clauses': () => {
    const places = [...Array.from({ length: 40 }).keys()];
    const clause = (c: number): string =>
      `(${places.map((i) => ((c * 7 + i * 3 + ((c * i) % 5)) % 4 === 3 ? '_' : `C${(c * 7 + i * 5 + c * i) % 3}`)).join(', ')}) => add(%x, ${c}f),`;
    return `type C { C0, C1, C2 }
    def @main(${places.map((i) => `%p${i}: C`).join(', ')}, %x: Tensor[(), float32]) {
      match ((${places.map((i) => `%p${i}`).join(', ')})) { ${times(120, clause)} _ => %x } }`;
  },
  'a match of an int with 20,000 clauses': () => `def @main(%i: int, %x: Tensor[(), float32]) {
    match (%i) { ${times(20_000, (i) => `#${i} => add(%x, ${i}f),`)} _ => %x } }`,
  'the gradient of polymorphic recursion': () =>
    existsSync(DERIVATIVES) ? readFileSync(DERIVATIVES, 'utf8') : 'def @main() { 1f }',
};

const onBranches = (f: (x: NdArray) => NdArray) => (x: NdArray) =>
  If(
    x.greater(0),
    () => f(x),
    () => x.mul(0),
  );

/** What programs in TypeScript must give, as JSON. */
const CALLS: Readonly<Record<string, readonly [() => unknown, wanted: unknown]>> = {
  'vmap(grad(f)) of sqrt in an If': [
    () => vmap(grad(onBranches((x) => x.sqrt())))(array([4, -1, 0])).toArray(),
    [0.25, 0, 0],
  ],
  'vmap(grad(f)) of log in an If': [
    () => vmap(grad(onBranches((x) => x.log())))(array([4, -1, 0])).toArray(),
    [0.25, 0, 0],
  ],
  'grad(vmap(f)) of sqrt in an If': [
    () =>
      grad((x: NdArray) => vmap(onBranches((y) => y.sqrt()))(x).sum())(array([4, -1, 0])).toArray(),
    [0.25, 0, 0],
  ],
  'argmax drops its axis': [() => array([[1, 2]]).argmax(-1).shape, [1]],
  'an option of another name': [
    () => random.uniform(random.key(0), [2], { minval: 5 } as never),
    /Did you mean min\?/,
  ],
};

/** Programs that no file holds: those that grow, and transforms (host). */
export async function programs(): Promise<readonly Row[]> {
  const rows = Object.entries(TEXTS).map(([title, text]): Row => {
    const before = process.cpuUsage();
    let got = 'compiled';
    try {
      compile(parseModule(text()));
    } catch (error) {
      got = reasonOf(error).slice(0, 120);
    }
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    const isTyped = /^(compiled|(CompileLimit|TypeCheck|Unsupported|Verify)Error: .*:\d+:\d+)/.test(
      got,
    );
    return {
      title,
      wanted: `compiled, or an error with a place, ${MAX_SECONDS} s`,
      got: `${seconds.toFixed(1)} s: ${got}`,
      ok: isTyped && seconds <= MAX_SECONDS,
    };
  });
  const folder = mkdtempSync(join(tmpdir(), 'weft-programs-'));
  const file = join(folder, 'p.ir');
  writeFileSync(file, 'def @main(%x: Tensor[(), float32]) { relu(%x) }');
  const opt = await testCommand(folder, ['opt', file, '--pass', 'lower-shapes,fuse']);
  rmSync(folder, { recursive: true });
  rows.push({
    title: 'weft opt --pass lower-shapes,fuse',
    wanted: 'refused',
    got: opt.err.trim(),
    ok: opt.err.includes('got fuse after lower-shapes'),
  });
  configure({ device: 'host', worker: false });
  for (const [title, [call, wanted]] of Object.entries(CALLS)) {
    const result = await Promise.resolve().then(call).catch(reasonOf);
    const got = JSON.stringify(result);
    const ok = wanted instanceof RegExp ? wanted.test(got) : got === JSON.stringify(wanted);
    rows.push({ title, wanted: String(wanted), got, ok });
  }
  return rows;
}
