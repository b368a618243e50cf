import { describe, expect, test } from 'vitest';
import { firstDifference, type Tolerance } from '../../core/tensor/all-close.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { numberElements } from '../../ops/elements.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { inferModule } from '../inference/infer-module.ts';
import { TypeInference } from '../inference/type-inference.ts';
import type { Module, VarExpr } from '../ir/expr.ts';
import { printModule } from '../ir/text/print.ts';
import { postOrder } from '../ir/walk/visit.ts';
import { allPasses } from '../pass-table.ts';
import { evaluateModule, type ReferenceValue } from '../evaluation/evaluate-module.ts';
import { verifyModule } from '../verify/verify-module.ts';
import { rewriteModule } from './rewrite-module.ts';
import { randomMatch } from './testing/random-match.ts';

const TABLES = allPasses().flatMap(({ name, rules = [] }) => rules.map((rule) => ({ name, rule })));

/** So many programs that a rule changes are compared. */
const WANTED = 12;
const MAX_ATTEMPTS = 40_000;

function argumentFor({ type }: VarExpr, random: () => number): HostTensor {
  if (type?.kind !== 'tensor') throw new Error('a parameter that is no tensor');
  const shape = type.shape.map(Number);
  const count = shape.reduce((product, size) => product * size, 1);
  const isSigned = type.dtype.startsWith('float') || type.dtype.startsWith('int');
  const value = (): number => {
    const number = random() * 4 - (isSigned ? 2 : 0);
    if (type.dtype === 'bool') return random() < 0.5 ? 0 : 1;
    return type.dtype.startsWith('float') ? number : Math.trunc(number);
  };
  return HostTensor.from(type.dtype, shape, Array.from({ length: count }, value));
}

function fieldsOf(value: ReferenceValue): readonly HostTensor[] {
  const isTuple = !(value instanceof HostTensor) && typeof value === 'object';
  if (!isTuple || value.kind !== 'tuple') throw new Error('no tuple');
  return value.fields.filter((field) => field instanceof HostTensor);
}

/** The largest tolerance of an operator in the programs: each result goes through all of them. */
function toleranceOf(...modules: readonly Module[]): Tolerance {
  const all = modules.flatMap(({ functions }) =>
    [...functions.values()].flatMap((fn) =>
      postOrder(fn.body).flatMap((expr) => {
        const isCall = expr.kind === 'call' && expr.callee.kind === 'operator';
        const tolerance = isCall ? CORE_OPERATORS.get(expr.callee.name)?.tolerance : undefined;
        return tolerance === undefined ? [] : [tolerance];
      }),
    ),
  );
  return {
    rtol: Math.max(0, ...all.map(({ rtol }) => rtol)),
    atol: Math.max(0, ...all.map(({ atol }) => atol)),
  };
}

/** Small floats are drawn by their bits, which may be those of NaN. */
function withFiniteElements(tensor: HostTensor): HostTensor {
  if (tensor.dtype !== 'float16' && tensor.dtype !== 'bfloat16') return tensor;
  // Without the lowest bit of the exponent nothing is infinite or NaN.
  const lowest = tensor.dtype === 'float16' ? 0x0400 : 0x0080;
  const bits = Array.from(tensor.data as Uint16Array, (value) => value & ~lowest);
  return HostTensor.from(tensor.dtype, tensor.shape, bits);
}

/** The tensor with the elements of another one in place of NaN. */
function withoutNaN(tensor: HostTensor, other: HostTensor): HostTensor {
  // Elements as they are stored, which may be bits.
  const [own, others] = [tensor.data, other.data];
  const values = Array.from(numberElements(tensor), (value, i) =>
    Number((Number.isNaN(value) ? others[i] : own[i]) ?? 0),
  );
  return HostTensor.from(tensor.dtype, tensor.shape, values);
}

test('names of rules are unique', () => {
  const names = TABLES.map(({ rule }) => rule.name);
  expect(new Set(names).size).toBe(names.length);
});

describe.each([...new Set(TABLES.map(({ name }) => name))])('rules of %s, each alone', (pass) => {
  const rules = TABLES.filter(({ name }) => name === pass).map(({ rule }) => rule);

  test.each(rules)('$name', (rule) => {
    let applied = 0;
    for (let seed = 0; applied < WANTED; seed++) {
      expect(seed, `programs that the rule changed: ${applied}`).toBeLessThan(MAX_ATTEMPTS);
      const random = seededRandom(seed);
      const match = randomMatch(rule, random);
      if (match === undefined) continue;
      const types = new TypeInference();
      let count = 0;
      const after = rewriteModule(match.module, [rule], { types, onRewrite: () => count++ });
      expect(count > 0).toBe(after !== match.module);
      if (count === 0) continue;
      applied++;
      const text = `seed ${seed}\n${printModule(match.module)}\n${printModule(after)}`;
      verifyModule(inferModule(after));
      expect(rewriteModule(after, [rule], { types }), text).toBe(after);
      const drawn = match.params.map((param) => argumentFor(param, random));
      const args = rule.makesNaN === true ? drawn.map(withFiniteElements) : drawn;
      const [expected, actual] = [match.module, after].map((module) =>
        fieldsOf(evaluateModule(module, 'main', args)),
      );
      const tolerance = toleranceOf(match.module, after);
      for (const [i, tensor] of (actual ?? []).entries()) {
        const given = expected?.[i];
        const wanted = given && rule.definesNaN === true ? withoutNaN(given, tensor) : given;
        expect(wanted && firstDifference(tensor, wanted, tolerance), text).toBeUndefined();
      }
    }
  });
});
