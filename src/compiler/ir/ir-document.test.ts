import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import type { HostFunction } from '../../runtime/link/host-function.ts';
import { AdtValue, FloatValue, TensorValue, type Value } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { inferModule } from '../inference/infer-module.ts';
import { verifyModule } from '../verify/verify-module.ts';
import { constant, construct, float, int, tuple } from './build.ts';
import type { Expr, Module } from './expr.ts';
import { parseExpr, parseModule } from './text/parse.ts';
import { printExpr, printModule } from './text/print.ts';
import { equalExprs, equalModules } from './walk/structural-equal.ts';
import { formatType, type Type } from './type.ts';

const pageOf = (name: string): string =>
  readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/** The blocks of the pages that are programs, with the line that each begins on. */
const PROGRAMS = ['ir.md', 'training.md'].flatMap((page) => {
  const document = pageOf(page);
  return [...document.matchAll(/^```weft\n([^]*?)^```$/gm)].map((match) => ({
    page,
    line: document.slice(0, match.index).split('\n').length,
    text: match[1] ?? '',
  }));
});

describe.each(PROGRAMS)('docs/$page, line $line', ({ text }) => {
  test('is well-typed', () => {
    const module = parseModule(text, { file: 'example' });
    verifyModule(module, { texts: new Map([['example', text]]) });
    expect(printModule(parseModule(printModule(module, { data: 'full' })))).toBe(
      printModule(module),
    );
  });

  test('is text after every pass too', () => {
    const dump = (pass: string, module: Module): void => {
      const after = printModule(module, { data: 'full' });
      expect(
        equalModules(parseModule(after, { prelude: false }), module),
        `${pass}\n${after}`,
      ).toBe(true);
    };
    compile(parseModule(text), { dump });
  });

  const runs = [...text.matchAll(/^\/\/ run: (.*) => (.*)$/gm)];
  test.each(runs.map(([, args = '', result = '']) => ({ args, result })))(
    '$args gives $result',
    async ({ args, result }) => {
      const module = inferModule(parseModule(text));
      const got = await run(
        module,
        fieldsOf(parseExpr(`(${args.slice(1, -1)},)`.replace('(,)', '()'))),
      );
      const expected = parseExpr(result);
      expect(equalExprs(got, expected), printExpr(got, { data: 'full' })).toBe(true);
    },
  );
});

test('the page has programs of every kind', () => {
  expect(PROGRAMS.length).toBeGreaterThan(10);
  expect(PROGRAMS.every(({ text }) => text.includes('// run: '))).toBe(true);
});

test('the page shows errors as they are', () => {
  const text = 'def @main(%x: int) {\n  %0 = rleu(%x);\n  add(%0, %1)\n}';
  const shown = /```text\n([^]*?)\n```/.exec(pageOf('ir.md'))?.[1];
  expect(() => parseModule(text, { file: 'model.ir' })).toThrow(
    expect.objectContaining({ message: shown }),
  );
});

test('errors of types show the line too', () => {
  const text = 'def @main(%x: int) {\n  relu(%x)\n}';
  const module = parseModule(text, { file: 'model.ir' });
  const texts = new Map([['model.ir', text]]);
  expect(() => compile(module, { texts })).toThrowErrorMatchingInlineSnapshot(`
    [TypeCheckError: model.ir:2:3, input 0: got int, expected a tensor. tensor_of(…, dtype="…") makes one of numbers of the host.
    2 |   relu(%x)
      |   ^]
  `);
});

/** Calls `main` on the host device; arguments and result are literals. */
async function run(module: Module, args: readonly Expr[]): Promise<Expr> {
  const device = createHostDevice();
  const vm: VirtualMachine = await VirtualMachine.create(compile(module), {
    devices: [device],
    functions: externs(() => vm),
    log: () => undefined,
  });
  try {
    const type = module.functions.get('main')?.resultType;
    if (type === undefined) throw new Error('main has no type');
    const result = await vm.get('main')(...args.map((arg) => toValue(arg)));
    return await toExpr(result, type, { module, vm });
  } finally {
    vm.dispose();
    device.destroy();
  }
}

/** The JavaScript functions that programs of the page call. */
function externs(vm: () => VirtualMachine): Readonly<Record<string, HostFunction>> {
  const numbersOf = async (tensor: TensorValue): Promise<number[]> => {
    const [host] = await vm().read([tensor]);
    return Array.from(host?.data ?? [], Number);
  };
  return {
    'tokens.next': async (logits: TensorValue) => {
      const numbers = await numbersOf(logits);
      return numbers.indexOf(Math.max(...numbers));
    },
    positive: async (x: TensorValue) => {
      const numbers = (await numbersOf(x)).filter((number) => number > 0);
      return HostTensor.from('float32', [numbers.length], numbers);
    },
  };
}

function fieldsOf(expr: Expr): readonly Expr[] {
  if (expr.kind !== 'tuple') throw new Error(`got a ${expr.kind}, expected arguments`);
  return expr.fields;
}

function toValue(expr: Expr): HostTensor | number {
  if (expr.kind === 'constant' || expr.kind === 'int') return expr.value;
  throw new Error(`got a ${expr.kind}, expected a tensor or an int`);
}

/** The literal of a result. Lists in it are short. */
async function toExpr(
  value: Value,
  type: Type,
  machine: { readonly module: Module; readonly vm: VirtualMachine },
): Promise<Expr> {
  const fields = (types: readonly Type[]): Promise<Expr[]> => {
    const values = value instanceof AdtValue ? value.fields : [];
    return Promise.all(types.map((field, i) => toExpr(values[i] ?? null, field, machine)));
  };
  if (value instanceof TensorValue) {
    const [tensor] = await machine.vm.read([value]);
    if (tensor !== undefined) return constant(tensor);
  }
  if (typeof value === 'number') return int(value);
  if (value instanceof FloatValue) return float(value.value);
  if (value instanceof AdtValue && type.kind === 'tuple') return tuple(await fields(type.fields));
  if (value instanceof AdtValue && type.kind === 'adt') {
    const definition = machine.module.types.get(type.name);
    const constructor = definition?.constructors[value.tag];
    if (definition !== undefined && constructor !== undefined) {
      const types = constructor.fields.map((field) =>
        field.kind === 'type-var'
          ? (type.args[definition.params.indexOf(field.name)] ?? field)
          : type,
      );
      return construct(constructor.name, await fields(types));
    }
  }
  throw new Error(`got another value, expected one of ${formatType(type)}`);
}
