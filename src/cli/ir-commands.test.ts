import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { type CommandResult, testCommand } from './testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

const PROGRAM = `// Doubles and cuts off.
def @main(%x: Tensor[(n,), float32]) {
  %twice = mul(add(%x, 0f), 2f);
  slice(%twice, starts=[0], ends=[2], steps=[1])
}
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-ir-'));
  await writeFile(at('program.ir'), PROGRAM);
  await writeFile(at('program.txt'), PROGRAM);
  await writeFile(
    at('wrong.ir'),
    'def @main(%x: Tensor[(2,), float32]) {\n  rleu(%x);\n  add(%x %y)\n}\n',
  );
  await writeFile(at('untypable.ir'), 'def @main(%x: Tensor[(2,), float32]) {\n  add(%x, #1)\n}\n');
  await writeFile(at('x.json'), '[1, 2, 3]');
  await writeFile(
    at('model.onnx'),
    writeOnnxModel({
      nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'w'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: ['batch', 2] }],
      outputs: ['y'],
      initializers: { w: HostTensor.from('float32', [2, 3], [1, 2, 3, 4, 5, 6]) },
    }),
  );
  await writeFile(at('rows.json'), '[[1, 10], [0, 1], [1, 0]]');
});

afterAll(() => rm(folder, { recursive: true }));

const weft = (...args: string[]): Promise<CommandResult> => testCommand(folder, args);

describe('weft opt', () => {
  test('reads and prints', async () => {
    expect(await weft('opt', at('program.ir'))).toMatchInlineSnapshot(`
      {
        "err": "",
        "out": "def @main(%x: Tensor[(n,), float32]) {
        %0 = add(%x, 0f);
        %1 = mul(%0, 2f);
        slice(%1, starts=[0], ends=[2], steps=[1])
      }
      ",
        "status": 0,
      }
    `);
  });

  test('runs passes in the order given', async () => {
    const { out, err } = await weft('opt', at('program.ir'), '--pass', 'simplify,fuse');
    expect(err).toBe('');
    expect(out).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) {
        %0 = fn (%p0: Tensor[(n,), float32], %p1: Tensor[(), float32], primitive="mul_slice") {
          %1 = mul(%p0, %p1);
          slice(%1, starts=[0], ends=[2], steps=[1])
        };
        %0(%x, 2f)
      }
      "
    `);
    const two = await weft('opt', at('program.ir'), '--pass', 'simplify', '--pass', 'fuse');
    expect(two.out).toBe(out);
  });

  test('writes what it reads again', async () => {
    const passes = ['--pass', 'dispatch-by-shape', '--dispatch', 'main.x.0=1:2,2:8'];
    const { out } = await weft('opt', at('program.ir'), ...passes, '-o', at('clones.ir'));
    expect(out).toBe('');
    const text = await readFile(at('clones.ir'), 'utf8');
    expect(text).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], bounds={n: (1, 7)}) -> Tensor[(min(n, 2),), float32] {
        %0 = dim(%x, axis=0);
        %1 = int_lt(%0, #2);
        if (%1) {
          %2 = @main.n_1(%x);
          reshape(%2, shape=[min(n, 2)])
        } else {
          @main.n_2_7(%x)
        }
      }

      def @main.n_1(%x: Tensor[(1,), float32]) -> Tensor[(1,), float32] {
        %0 = add(%x, 0f);
        %1 = mul(%0, 2f);
        slice(%1, starts=[0], ends=[2], steps=[1])
      }

      def @main.n_2_7(%x: Tensor[(n_2_7,), float32], bounds={n_2_7: (2, 7)}) -> Tensor[(min(n_2_7, 2),), float32] {
        %0 = add(%x, 0f);
        %1 = mul(%0, 2f);
        slice(%1, starts=[0], ends=[2], steps=[1])
      }
      "
    `);
    expect((await weft('opt', at('clones.ir'))).out).toBe(text);
    const ran = await weft('run', at('clones.ir'), '-i', `x=${at('x.json')}`, '--device', 'host');
    expect(ran).toMatchObject({ status: 0, out: 'result: float32 [2]\n  [2, 4]\n' });
  });

  test('takes models and sizes', async () => {
    const bound = ['--pass', 'bind-dims', '--dim', 'batch=4'];
    const { out } = await weft('opt', at('model.onnx'), ...bound);
    expect(out).toContain('%x: Tensor[(4, 2), float32]');
  });

  test('says which rewrite rules applied', async () => {
    const passes = ['--pass', 'simplify', '--explain'];
    const { out } = await weft('opt', at('program.ir'), ...passes);
    expect(out).toMatchInlineSnapshot(`
      "// x + 0 = x: once, at /program.ir:3:16
      def @main(%x: Tensor[(n,), float32]) {
        %0 = mul(%x, 2f);
        slice(%0, starts=[0], ends=[2], steps=[1])
      }
      "
    `);
    const again = await weft('opt', at('program.ir'), ...passes, '-o', at('simple.ir'));
    expect(out).toBe(again.out + (await readFile(at('simple.ir'), 'utf8')));
    expect((await weft('opt', at('simple.ir'), ...passes)).out).toContain(
      'No rewrite rule applies',
    );
  });

  test('says what passes there are', async () => {
    const { status, err } = await weft('opt', at('program.ir'), '--pass', 'simplfy');
    expect(status).toBe(2);
    expect(err).toContain('weft: --pass: got simplfy, expected one of bind-dims, infer-types, ');
    expect(err).toContain(', simplify, ');
  });
});

describe('weft opt watches passes', () => {
  beforeAll(async () => {
    await writeFile(
      at('wrong-pass.mjs'),
      `const replace = (expr) => expr.kind !== 'call' || expr.callee.name !== 'mul'
         ? expr
         : { ...expr, callee: { kind: 'operator', name: 'add' } };
       const run = (module) => {
         const functions = new Map([...module.functions].map(([name, fn]) => {
           const body = { ...fn.body, args: fn.body.args.map(replace) };
           return [name, { ...fn, body }];
         }));
         return { ...module, functions };
       };
       export default { pass: { name: 'mul-is-add', run }, after: 'simplify' };`,
    );
  });

  test('--time measures the passes of weft compile', async () => {
    const { out, err } = await weft('opt', at('program.ir'), '--time');
    expect(err).toBe('');
    expect(out).toMatch(/^\/\/ +\d+\.\d\d ms +\d+% {2}bind-dims\n/);
    expect(out).toMatch(/\n\/\/ +\d+\.\d\d ms +100% {2}all passes\n$/);
  });

  test('--diff shows what each changes', async () => {
    const { out } = await weft('opt', at('program.ir'), '--diff', '--pass', 'simplify');
    expect(out).toMatchInlineSnapshot(`
      "// simplify
        def @main(%x: Tensor[(n,), float32]) {
      -   %0 = add(%x, 0f);
      -   %1 = mul(%0, 2f);
      +   %0 = mul(%x, 2f);
          slice(%0, starts=[0], ends=[2], steps=[1])
        }

      def @main(%x: Tensor[(n,), float32]) {
        %0 = mul(%x, 2f);
        slice(%0, starts=[0], ends=[2], steps=[1])
      }
      "
    `);
  });

  test('--bisect finds the pass that changes the result', async () => {
    const inputs = ['--bisect', `x=${at('x.json')}`];
    const right = await weft('opt', at('program.ir'), ...inputs);
    expect(right.err).toBe('');
    expect(right.out).toMatchInlineSnapshot(`
      "// The result is the same after every pass that was compared: infer-types, simplify, fuse.
      // Not compared after plan-memory: evaluating: got the operator alloc_storage, expected a program of operators that have host references.
      // Not compared after lower-shapes, liveness: evaluating: got the operator shape_heap, expected a program of operators that have host references.
      // The executable: gives the same on the host device.
      "
    `);
    expect(right.status).toBe(0);
    const wrong = await weft('opt', at('program.ir'), ...inputs, '--pass', at('wrong-pass.mjs'));
    expect(wrong.status).toBe(1);
    expect(wrong.out).toMatchInlineSnapshot(`
      "// The result changes after mul-is-add: result: 1 of 2 elements differ; the worst is at 0: got 3, expected 2 (rtol 0.0001, atol 0.00001)
        def @main(%x: Tensor[(n,), float32]) -> Tensor[(min(n, 2),), float32] {
      -   %0 = mul(%x, 2f);
      +   %0 = add(%x, 2f);
          slice(%0, starts=[0], ends=[2], steps=[1])
        }
      "
    `);
    const missing = await weft('opt', at('program.ir'), '--bisect', 'y=3');
    expect(missing.status).toBe(2);
    expect(missing.err).toBe('weft: --bisect: got the input y, expected one of x.\n');
  });

  test.each([
    ['lower-shapes,fuse', 'fuse after lower-shapes, expected fuse before it, as in weft compile.'],
    ['fuse,simplify', 'simplify after fuse, expected simplify before it, as in weft compile.'],
    ['fuze', /fuze, expected one of bind-dims, .*, or a file\. Did you mean fuse\?/],
  ])('--pass %s is refused', async (names, message) => {
    const { status, err } = await weft('opt', at('program.ir'), '--pass', names);
    expect(status).toBe(2);
    expect(err).toMatch(message);
  });

  test('--pass takes files, to opt and to compile', async () => {
    const file = ['--pass', at('wrong-pass.mjs')];
    const { out } = await weft('opt', at('program.ir'), ...file);
    expect(out).toContain('%1 = add(%0, 2f);');
    const compiled = await weft('compile', at('program.ir'), '-o', at('own.weft'), ...file);
    expect(compiled.err).toBe('');
    const ran = await weft('run', at('own.weft'), '-i', `x=${at('x.json')}`, '--device', 'host');
    expect(ran.out).toBe('result: float32 [2]\n  [3, 4]\n');
    await writeFile(at('mine.rules'), 'mul(%x, 2) => add(%x, %x); // twice\n');
    const rules = ['--pass', at('mine.rules')];
    expect((await weft('opt', at('program.ir'), ...rules)).out).toContain('%1 = add(%0, %0);');
    await weft('compile', at('program.ir'), '-o', at('own.weft'), ...rules);
    expect((await weft('inspect', at('own.weft'))).out).not.toContain('mul(');
    const none = await weft('opt', at('program.ir'), '--pass', './none.js');
    expect(none.status).toBe(2);
    expect(none.err).toMatch(/^weft: \.\/none\.js: got a file that cannot be imported \(/);
  });
});

describe('programs as text', () => {
  test('are compiled and run, told by name or by content', async () => {
    for (const name of ['program.ir', 'program.txt']) {
      const compiled = await weft('compile', at(name), '-o', at('program.weft'));
      expect(compiled.err).toBe('');
      expect(compiled.out).toMatch(/^\/program.weft: .*, 1 function\(s\), 1 kernel\(s\)/);
      for (const file of ['program.weft', name]) {
        const ran = await weft('run', at(file), '-i', `x=${at('x.json')}`, '--device', 'host');
        expect(ran).toEqual({ status: 0, out: 'result: float32 [2]\n  [2, 4]\n', err: '' });
      }
    }
    expect((await weft('inspect', at('program.ir'))).out).toContain('func main(x: Tensor[(n,)');
  });

  test('errors show the line', async () => {
    const out = at('out.weft');
    for (const args of [
      ['opt', at('wrong.ir')],
      ['compile', at('wrong.ir'), '-o', out],
      ['run', at('wrong.ir'), '--device', 'host'],
    ]) {
      const { status, err } = await weft(...args);
      expect(status).toBe(1);
      expect(err).toContain('/wrong.ir:3:10: got "%y"');
      expect(err).toContain('3 |   add(%x %y)\n  |          ^');
    }
    const untypable = await weft('compile', at('untypable.ir'), '-o', out);
    expect(untypable).toMatchInlineSnapshot(`
      {
        "err": "weft: /untypable.ir:2:3, input 1: got int, expected a tensor. tensor_of(…, dtype="…") makes one of numbers of the host.
      2 |   add(%x, #1)
        |   ^
      ",
        "out": "",
        "status": 1,
      }
    `);
  });
});

describe('weft compile', () => {
  test('--dump-after prints the program after some passes', async () => {
    const after = ['--dump-after', 'source,simplify'];
    const { out } = await weft('compile', at('program.ir'), '-o', at('a.weft'), ...after);
    expect(out.split('\n').slice(0, -2).join('\n')).toMatchInlineSnapshot(`
      "// after source
      def @main(%x: Tensor[(n,), float32]) {
        %0 = add(%x, 0f);
        %1 = mul(%0, 2f);
        slice(%1, starts=[0], ends=[2], steps=[1])
      }

      // after simplify
      def @main(%x: Tensor[(n,), float32]) -> Tensor[(min(n, 2),), float32] {
        %0 = mul(%x, 2f);
        slice(%0, starts=[0], ends=[2], steps=[1])
      }
      "
    `);
    const wrong = await weft('compile', at('program.ir'), '-o', at('a.weft'), '--dump-after', 'x');
    expect(wrong.status).toBe(2);
    expect(wrong.err).toContain('--dump-after: got x, expected one of source, bind-dims,');
  });

  test('tells what runs beside WebGPU, and inspect shows it', async () => {
    await writeFile(
      at('placed.ir'),
      'def @main(%x: Tensor[(2,), float64]) {\n  (neg(%x), exp(%x, on_device="host"))\n}\n',
    );
    const { out } = await weft('compile', at('placed.ir'), '-o', at('placed.weft'));
    expect(out).toMatchInlineSnapshot(`
      "/placed.ir:2:4: neg runs beside WebGPU: WebGPU has no kernels for float64
      /placed.ir:2:13: exp runs beside WebGPU: WebGPU has no kernels for float64
      2 call(s) beside WebGPU
      /placed.weft: 1.5 KiB, 1 function(s), 2 kernel(s), 0 bytes of weights
      "
    `);
    const inspected = await weft('inspect', at('placed.weft'), '--all');
    expect(inspected.out).toContain('placements = "[{\\"node\\":');
    expect(inspected.out).toContain('-> (%1: Tensor[(2,), float64]) on host {');
  });

  test('tells what runs references on wasm', async () => {
    const text =
      'def @main(%x: Tensor[(1, 2, 2), float32]) {\n  (det(%x), nonzero(%x), exp(%x))\n}\n';
    await writeFile(at('references.ir'), text);
    const { out } = await weft('compile', at('references.ir'), '-o', at('references.weft'));
    expect(out).toContain('det: det runs its reference on wasm');
    expect(out).toContain('nonzero: nonzero runs its reference on wasm');
    expect(out).not.toContain('exp: exp');
  });

  test('--devices places parts on both', async () => {
    const calls = Array.from(
      { length: 150 },
      (_, i) => `  let %s${i + 1} = softmax(%s${i}, axis=0);`,
    );
    const text = `def @main(%s0: Tensor[(9,), float32]) {\n${calls.join('\n')}\n  %s150\n}\n`;
    await writeFile(at('small.ir'), text);
    const compile = ['compile', at('small.ir'), '-o', at('small.weft')];
    const { out } = await weft(...compile, '--devices', 'webgpu,wasm');
    expect(out).toContain(
      'softmax runs beside WebGPU: by an estimate the program takes less time so',
    );
    expect(out).toContain('150 call(s) beside WebGPU');
    const wrong = await weft(...compile, '--devices', 'wasm');
    expect(wrong.status).toBe(2);
    expect(wrong.err).toContain('webgpu,wasm');
  });

  test('--function gives types of nodes that JavaScript computes', async () => {
    const model = writeOnnxModel({
      opset: 17,
      opsets: { 'my.domain': 1 },
      inputs: [{ name: 'x', dtype: 'float32', shape: ['n'] }],
      nodes: [{ op: 'Op', name: 'a', domain: 'my.domain', inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    });
    await writeFile(at('own.onnx'), model);
    const compile = ['compile', at('own.onnx'), '-o', at('own.weft')];
    expect((await weft(...compile)).err).toContain('node "a" (my.domain.Op)');
    const type = 'my.domain::Op=fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]';
    expect((await weft(...compile, '--function', type)).status).toBe(0);
    const { out } = await weft('inspect', at('own.weft'));
    expect(out).toContain('packed "my.domain::Op"');
    const wrong = await weft(...compile, '--function', 'my.domain::Op=fn');
    expect(wrong.err).toContain('functions, my.domain::Op: got "fn", expected Tensor');
  });

  test('--dispatch tells the growth', async () => {
    const by = ['--dispatch', 'main.x.0=log:1:7'];
    const { out } = await weft('compile', at('program.ir'), '-o', at('a.weft'), ...by);
    expect(out).toMatch(
      /^main: 3 clone\(s\) by shape; from \d+ to \d+ expressions, weights shared\n\/a\.weft: .*, 4 function/,
    );
    const input = `x=${at('rows.json')}`;
    const rows = ['--dispatch', 'main.x.0=uniform:1:4:2', '-i', input, '--device', 'host'];
    const ran = await weft('run', at('model.onnx'), ...rows);
    expect(ran).toEqual({
      status: 0,
      out: 'y: float32 [3, 3]\n  [[41, 52, 63], [4, 5, 6], [1, 2, 3]]\n',
      err: '',
    });
    const open = ['--dispatch', 'main.x.0=1:2,2:', '-i', input, '--device', 'host'];
    expect(await weft('run', at('model.onnx'), ...open)).toEqual(ran);
    const rest = ['--dispatch', 'main.x.0=1:2,*', '-i', input, '--device', 'host'];
    expect(await weft('run', at('model.onnx'), ...rest)).toEqual(ran);
    const narrow = ['--dispatch', 'main.x.0=1:2,2:3', '-i', input, '--device', 'host'];
    const refused = await weft('run', at('model.onnx'), ...narrow);
    expect(refused.status).toBe(1);
    expect(refused.err).toContain('input "x", where dimension 0 is from 1 to 2: got 3');
  });

  test('--dispatch that is written wrong', async () => {
    const errors = [
      await weft('compile', 'x.ir', '-o', 'y', '--dispatch', 'main.x=1:2'),
      await weft('compile', 'x.ir', '-o', 'y', '--dispatch', 'main.x.0=1-2'),
      await weft('compile', 'x.ir', '-o', 'y', '--dispatch', 'main.x.0=log:1'),
      await weft('compile', at('program.ir'), '-o', 'y', '--dispatch', 'main.y.0=1:2'),
      await weft('compile', at('program.ir'), '-o', 'y', '--dispatch', 'main.x.0=1:4,2:8'),
    ];
    expect(errors.map(({ status, err }) => `${status} ${err}`).join('')).toMatchInlineSnapshot(`
      "2 error: option '--dispatch <FUNCTION.INPUT.AXIS=INTERVALS>' argument 'main.x=1:2' is invalid. Write it as FUNCTION.INPUT.AXIS=1:2,2:4 or =log:MIN:MAX[:BASE] or =uniform:MIN:MAX:STEP. 257: is open, and ,* takes all other sizes.
      (add --help for usage)
      2 error: option '--dispatch <FUNCTION.INPUT.AXIS=INTERVALS>' argument 'main.x.0=1-2' is invalid. Write it as FUNCTION.INPUT.AXIS=1:2,2:4 or =log:MIN:MAX[:BASE] or =uniform:MIN:MAX:STEP. 257: is open, and ,* takes all other sizes.
      (add --help for usage)
      2 error: option '--dispatch <FUNCTION.INPUT.AXIS=INTERVALS>' argument 'main.x.0=log:1' is invalid. Write it as FUNCTION.INPUT.AXIS=1:2,2:4 or =log:MIN:MAX[:BASE] or =uniform:MIN:MAX:STEP. 257: is open, and ,* takes all other sizes.
      (add --help for usage)
      2 weft: dispatch of main: got the parameter y, expected one of x.
      2 weft: dispatch of main, axis 0 of x: got [2, 8] after sizes below 4, expected intervals in ascending order, from 0 up.
      "
    `);
  });
});

test('clauses that are never reached are warnings, with their place', async () => {
  const text = `def @main(%n: Option[int]) -> int {
  match (%n) { Some(%x) => %x, None => #0, _ => #1 }
}`;
  await writeFile(at('odd.ir'), text);
  const warning = 'warning: /odd.ir:2:3, clause 3: never reached, clauses before it cover it.\n';
  const compiled = await weft('compile', at('odd.ir'), '-o', at('odd.weft'));
  expect([compiled.status, compiled.err]).toEqual([0, warning]);
  const optimised = await weft('opt', at('odd.ir'), '--pass', 'infer-types');
  expect([optimised.status, optimised.err]).toEqual([0, warning]);
});
