import { describe, expect, test } from 'vitest';
import { ParseError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { ExecBuilder } from './build/exec-builder.ts';
import { Executable } from './file/executable-file.ts';
import { printExecutable } from './text/print.ts';
import { listingLine } from './text/print-instruction.ts';
import { sampleExecutable } from './testing/sample-executable.ts';

const sample = sampleExecutable();

describe('the listing', () => {
  test('of the sample', () => {
    expect(sample.toText()).toMatchInlineSnapshot(`
      "weft 1.1

      func main(x: Tensor[(n, 4), float32], flag: int) -> (y: Tensor[((n + 1), 4), float32]) {
         0: %2 = call vm.builtin.alloc_shape_heap(2) from "model.ir":3:7
         1: call vm.builtin.match_shape(%0, %2, 2, 1, 0, 0, 4, c[0])
         2: call vm.builtin.compute_shape(%2, 0)
         3: %3 = call vm.builtin.make_shape(%2, 2, 1, 1, 0, 4)
         4: if %1 else 9
         5: %4 = call vm.builtin.alloc_storage(c[1], 0)
         6: %5 = call vm.builtin.alloc_tensor(%4, 0, %3, c[2])
         7: call fused_add_relu(%0, c[3], %5) from "conv 1", "conv 2"
         8: ret %5
         9: %6 = call vm.builtin.make_closure(@helper, %0) from nowhere
        10: %7 = call vm.builtin.invoke_closure(%6, c[4])
        11: ret %7
      }

      func helper(scale, x) {
        0: %2 = call user.scale(%vm, %0, %1, c[5], c[6], c[7])
        1: ret %2
      }

      references {
        f[0] = packed vm.builtin.alloc_shape_heap
        f[1] = packed vm.builtin.match_shape
        f[2] = packed vm.builtin.compute_shape
        f[3] = packed vm.builtin.make_shape
        f[4] = packed vm.builtin.alloc_storage
        f[5] = packed vm.builtin.alloc_tensor
        f[6] = primitive fused_add_relu
        f[7] = packed vm.builtin.make_closure
        f[8] = bytecode helper
        f[9] = packed vm.builtin.invoke_closure
        f[10] = packed user.scale
      }

      constants {
        c[0] = string "input \\"x\\""
        c[1] = int 1099511627776
        c[2] = dtype float32
        c[3] = tensor float32 (4,) [1, -0, nan, 0.1]
        c[4] = float 0.5
        c[5] = splat int64 (1000, 1000) [1]
        c[6] = tensor uint8 (7, 50) base64
          "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BB"
          "QkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKD"
          "hIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TF"
          "xsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/wABAgMEBQYH"
          "CAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9AQUJDREVGR0hJ"
          "SktMTU5PUFFSU1RVVldYWVpbXF0="
        c[7] = shape (2, 3)
      }

      primitive fused_add_relu(%0: Tensor[(n, 4), float32], %1: Tensor[(4,), float32]) -> (%3: Tensor[(n, 4), float32]) {
        %2 = add(%0, %1)
        %3 = clip(%2, _) {axes: [0, 1], max: 6, mode: "x", on: true}
      }

      shape_programs {
        p[0] = { load 0, const 1, add, store 1 }
      }

      metadata {
        producer = "test"
      }
      "
    `);
  });

  test('in TypeScript', () => {
    expect(sample.toTypeScript()).toMatchInlineSnapshot(`
      "import { type Executable, ExecBuilder, HostTensor } from "weft-vm/executable";

      export function buildExecutable(): Executable {
        const b = new ExecBuilder({ exact: true });
        b.metadata("producer", "test");
        for (const name of [
          "vm.builtin.alloc_shape_heap",
          "vm.builtin.match_shape",
          "vm.builtin.compute_shape",
          "vm.builtin.make_shape",
          "vm.builtin.alloc_storage",
          "vm.builtin.alloc_tensor",
          "fused_add_relu",
          "vm.builtin.make_closure",
          "helper",
          "vm.builtin.invoke_closure",
          "user.scale",
        ]) b.functionReference(name);
        b.definePrimitive({
          name: "fused_add_relu",
          params: [{ dtype: "float32", shape: ["n", 4] }, { dtype: "float32", shape: [4] }],
          body: [
            { op: "add", inputs: [0, 1], attributes: {} },
            { op: "clip", inputs: [2, -1], attributes: { max: 6, mode: "x", axes: [0, 1], on: true } },
          ],
          results: [{ value: 3, type: { dtype: "float32", shape: ["n", 4] } }],
        });
        b.shapeProgram([{ op: "load", slot: 0 }, { op: "const", value: 1 }, { op: "add" }, { op: "store", slot: 1 }]);
        const c = [
          b.string("input \\"x\\""),
          b.int(1099511627776),
          b.dtype("float32"),
          b.tensor(HostTensor.fromBytes("float32", [4], fromBase64(["AACAPwAAAIAAAMB/zczMPQ=="]))),
          b.float(0.5),
          b.tensor(HostTensor.splat("int64", [1000, 1000], 1n)),
          b.tensor(HostTensor.fromBytes("uint8", [7, 50], fromBase64([
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BB",
            "QkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKD",
            "hIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TF",
            "xsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/wABAgMEBQYH",
            "CAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9AQUJDREVGR0hJ",
            "SktMTU5PUFFSU1RVVldYWVpbXF0=",
          ]))),
          b.shape([2, 3]),
        ] as const;
        {
          const f = b.function("main", ["x", "flag"], {
            signature: {
              params: [{ kind: "tensor", dtype: "float32", shape: ["n", 4] }, { kind: "int" }],
              results: [
                {
                  name: "y",
                  type: { kind: "tensor", dtype: "float32", shape: [{ op: "add", left: "n", right: 1 }, 4] },
                },
              ],
            },
          });
          const l9 = f.label();
          f.at({ source: "model.ir", line: 3, column: 7 });
          f.call("vm.builtin.alloc_shape_heap", [2], { into: f.r(2) });
          f.call("vm.builtin.match_shape", [f.r(0), f.r(2), 2, 1, 0, 0, 4, c[0]], { into: f.void });
          f.call("vm.builtin.compute_shape", [f.r(2), 0], { into: f.void });
          f.call("vm.builtin.make_shape", [f.r(2), 2, 1, 1, 0, 4], { into: f.r(3) });
          f.if(f.r(1), l9);
          f.call("vm.builtin.alloc_storage", [c[1], 0], { into: f.r(4) });
          f.call("vm.builtin.alloc_tensor", [f.r(4), 0, f.r(3), c[2]], { into: f.r(5) });
          f.at({ source: "conv 1" }, { source: "conv 2" });
          f.call("fused_add_relu", [f.r(0), c[3], f.r(5)], { into: f.void });
          f.ret(f.r(5));
          f.at();
          f.place(l9);
          f.call("vm.builtin.make_closure", [b.functionReference("helper"), f.r(0)], { into: f.r(6) });
          f.call("vm.builtin.invoke_closure", [f.r(6), c[4]], { into: f.r(7) });
          f.ret(f.r(7));
        }
        {
          const f = b.function("helper", ["scale", "x"]);
          f.call("user.scale", [f.vm, f.r(0), f.r(1), c[5], c[6], c[7]], { into: f.r(2) });
          f.ret(f.r(2));
        }
        return b.build();
      }

      function fromBase64(lines: readonly string[]): Uint8Array {
        return Uint8Array.from(atob(lines.join('')), (char) => char.charCodeAt(0));
      }
      "
    `);
  });

  test('in numbers', () => {
    expect(sample.stats()).toMatchInlineSnapshot(`
      "weft executable, format 1.2
      bytecode functions (2):
        main(x: Tensor[(n, 4), float32], flag: int) -> (y: Tensor[((n + 1), 4), float32]): 12 instructions, 8 registers
        helper(scale, x): 2 instructions, 3 registers
      primitive functions (1):
        fused_add_relu: add -> clip
      packed functions (9):
        vm.builtin.alloc_shape_heap
        vm.builtin.match_shape
        vm.builtin.compute_shape
        vm.builtin.make_shape
        vm.builtin.alloc_storage
        vm.builtin.alloc_tensor
        vm.builtin.make_closure
        vm.builtin.invoke_closure
        user.scale
      constants (8):
        c[0] string "input \\"x\\""
        c[1] int 1099511627776
        c[2] dtype "float32"
        c[3] float32 (4,): 16 bytes
        c[4] float 0.5
        c[5] int64 (1000, 1000): 8 bytes, one element for all
        c[6] uint8 (7, 50): 350 bytes
        c[7] shape (2, 3)
      shape programs (1):
        p[0]: 4 steps
      bytes:
        functions: 149
        code: 340
        functionTable: 278
        constants: 168
        primitives: 207
        shapePrograms: 28
        metadata: 24
        blockHashes: 32
        sourceMap: 41
        data: 862
      "
    `);
  });

  test('gives a line for a stack trace', () => {
    expect(listingLine(sample, 'helper', 1)).toEqual({ line: 20, text: 'ret %2' });
    expect(sample.toText().split('\n')[19]).toBe('  1: ret %2');
    expect(listingLine(sample, 'helper', 2)).toBeUndefined();
    expect(listingLine(sample, 'nobody', 0)).toBeUndefined();
  });

  test('without data cannot be parsed back', () => {
    const { data: _, ...program } = sample;
    const text = printExecutable(program);
    expect(text).toContain('tensor float32 (4,) elided');
    expect(() => Executable.fromText(text)).toThrow(
      'got "elided", expected the elements, which this listing was printed without.',
    );
  });
});

describe('elements', () => {
  const bits = (dtype: 'float32' | 'float16' | 'float64', words: readonly string[]): string => {
    const byteLength = { float16: 2, float32: 4, float64: 8 }[dtype];
    const bytes = new Uint8Array(words.length * byteLength);
    const view = new DataView(bytes.buffer);
    for (const [i, word] of words.entries()) {
      for (let byte = 0; byte < byteLength; byte++) {
        const value = (BigInt(word) >> BigInt(8 * byte)) & 0xffn;
        view.setUint8(i * byteLength + byte, Number(value));
      }
    }
    const b = new ExecBuilder();
    const f = b.function('main');
    f.ret(b.tensor(HostTensor.fromBytes(dtype, [words.length], bytes)));
    const executable = b.build();
    expect(Executable.fromText(executable.toText())).toEqual(executable);
    return /\[(.*)\]$/m.exec(executable.toText().split('constants')[1]?.slice(8) ?? '')?.[1] ?? '';
  };

  test('keep every bit of a float32', () => {
    const words = ['0x3dcccccd', '0x80000000', '0x7f800000', '0xff800000', '0x7fc00000'];
    const odd = ['0x7f800001', '0xffc00000', '0x00000001', '0x7f7fffff', '0x4b800001'];
    expect(bits('float32', [...words, ...odd])).toMatchInlineSnapshot(
      `"0.1, -0, inf, -inf, nan, 0x7f800001, 0xffc00000, 1e-45, 3.4028234663852886e+38, 16777218"`,
    );
  });

  test('keep every bit of a float16', () => {
    const words = ['0x2e66', '0x8000', '0x7c00', '0xfc00', '0x7e00', '0x7c01', '0x0001', '0x7bff'];
    expect(bits('float16', words)).toMatchInlineSnapshot(
      `"0.1, -0, inf, -inf, nan, 0x7c01, 6e-8, 65504"`,
    );
  });

  test('keep every bit of a float64', () => {
    const words = ['0x3fb999999999999a', '0x8000000000000000', '0x7ff8000000000000'];
    expect(bits('float64', [...words, '0x7ff0000000000001', '0x1'])).toMatchInlineSnapshot(
      `"0.1, -0, nan, 0x7ff0000000000001, 5e-324"`,
    );
  });
});

describe('a listing by hand', () => {
  test('needs no table of references, takes comments and names of labels', () => {
    const executable = Executable.fromText(`weft 1.0
      func count(n) {        # from n to zero
      again:
        %1 = call vm.builtin.int_sub(%0, 1)
        if %1 else done
        %0 = call vm.builtin.int_sub(%0, 1)
        goto again
      done:
        ret %0
      }`);
    const names = executable.functionTable.map(({ name }) => name);
    expect(names).toEqual(['vm.builtin.int_sub']);
    expect(executable.toText().split('\n').slice(2, 9)).toMatchInlineSnapshot(`
      [
        "func count(n) {",
        "  0: %1 = call vm.builtin.int_sub(%0, 1)",
        "  1: if %1 else 4",
        "  2: %0 = call vm.builtin.int_sub(%0, 1)",
        "  3: goto 0",
        "  4: ret %0",
        "}",
      ]
    `);
  });

  test('may number registers with gaps, which are then closed', () => {
    const executable = Executable.fromText(`weft 1.0
      func main(x) {
        %10000 = call f(%0)
        %20 = call f(%10000)
        ret %20
      }`);
    expect(executable.functions[0]?.registerCount).toBe(3);
    expect(executable.toText()).toContain('0: %1 = call f(%0)\n  1: %2 = call f(%1)\n  2: ret %2');
  });
});

function parseMessage(text: string): string {
  try {
    Executable.fromText(text);
  } catch (error) {
    if (error instanceof ParseError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a listing with a mistake', () => {
  const body = (line: string): string => `weft 1.0\nfunc main(x) {\n  ${line}\n  ret %0\n}\n`;

  test('shows its line and a caret', () => {
    expect(parseMessage(body('%1 = cal f(%0)'))).toMatchInlineSnapshot(`
      "listing, line 3, column 8: got "cal", expected a call.
      3 |   %1 = cal f(%0)
        |        ^"
    `);
  });

  test.each([
    ['', 'line 1, column 1: got the end of the text, expected "weft"'],
    ['weft 2.0', 'line 1, column 6: got "2.0", expected version 1.0 to 1.2'],
    ['weft 1.0\nfoo', 'line 2, column 1: got "foo", expected func, references, constants'],
    ['weft 1.0\nfunc main( {', 'line 2, column 12: got "{", expected the name of a parameter'],
    ['weft 1.0\nfunc f(x: int) {', 'line 2, column 16: got "{", expected "->"'],
    [
      'weft 1.0\nfunc f(x: int, y) -> () {',
      'expected a type for every parameter before it, or for none',
    ],
    [body('%1 = ret %0'), 'line 3, column 8: got "ret", expected a call'],
    [body('goto nowhere'), 'line 3, column 8: got "nowhere", expected a label of this function'],
    [body('l: l: ret %0'), 'line 3, column 6: got "l", expected a label that is not placed before'],
    [body('call f(%-1)'), 'line 3, column 11: got "-", expected a register'],
    [
      body('call f(200000000)'),
      'expected an immediate from -134217728 to 134217727, or an int constant',
    ],
    [
      body('call f(1.5)'),
      'line 3, column 10: got "1.5", expected an argument: %0, 1, c[0] or @name',
    ],
    [body('call f(%0'), 'line 4, column 3: got "ret", expected ")"'],
    [
      body('call f(!)'),
      'line 3, column 10: got the character "!", expected a name, number, string or sign',
    ],
    ['weft 1.0\nfunc "x {', 'line 2, column 6: got a broken string, expected a string as in JSON'],
    ['weft 1.0\nconstants { c[1] = int 1 }', 'line 2, column 15: got "1", expected 0'],
    [
      'weft 1.0\nconstants { c[0] = bool 1 }',
      'expected tensor, splat, shape, string, int, float, dtype or host',
    ],
    ['weft 1.0\nconstants { c[0] = int 9007199254740993 }', 'expected an integer: a safe integer'],
    [
      'weft 1.0\nconstants { c[0] = tensor f32 () [1] }',
      'got "f32", expected a dtype such as float32',
    ],
    [
      'weft 1.0\nconstants { c[0] = tensor int8 (2,) [1] }',
      'got 1 elements, expected 2 for the shape',
    ],
    [
      'weft 1.0\nconstants { c[0] = tensor int8 (1,) [200] }',
      'column 38: got "200", expected an element of int8',
    ],
    [
      'weft 1.0\nconstants { c[0] = tensor int8 (1,) base64 "!" }',
      'got the string "!", expected base64',
    ],
    ['weft 1.0\nreferences { f[0] = packed f f[1] = packed f }', 'expected each name once'],
    [
      'weft 1.0\nmetadata { a = "1" a = "2" }',
      'line 2, column 20: got "a", expected each key once',
    ],
    ['weft 1.0\nshape_programs { p[0] = { pop } }', 'got "pop", expected const, load, store, add'],
    [
      `weft 1.0\nfunc f(x: Tensor[(${'('.repeat(50_000)}`,
      'expected at most 200 levels of operators',
    ],
  ])('%#', (text, part) => {
    expect(parseMessage(text)).toContain(part);
  });
});
