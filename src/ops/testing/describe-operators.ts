import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/build/exec-builder.ts';
import { Executable } from '../../bytecode/file/executable-file.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { seededRandom } from '../../core/random.ts';
import { caseTensors } from '../../conformance/operator-conformance.ts';
import { casePrimitive, caseResult } from './case-tensors.ts';
import { computeReference } from '../compute-reference.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { fillElements } from '../elements.ts';
import { injectiveReference } from '../index-expression/injective.reference.ts';
import { KERNEL_DTYPES } from '../lowering/placement.ts';
import { inferConcreteCall } from '../infer-concrete-call.ts';
import { CORE_OPERATORS } from '../tables/core-operators.ts';
import { staticReference } from '../tables/references.ts';
import { type TestedOp, withCases } from './tested-ops.ts';
import { casesOfAllDTypes } from '../../conformance/dtype-variants.ts';
import { webgpuLowering } from '../tables/webgpu.ts';

const EXACT = { rtol: 0, atol: 0 };

/** Attributes that a case sets to something else than the default. */
function changed(opCase: OpCase, name: string, byDefault: unknown): boolean {
  const value = opCase.attributes?.[name];
  return value !== undefined && JSON.stringify(value) !== JSON.stringify(byDefault);
}

/** The tests of every entry of the operator table: its cases, its reference and its refusals. */
export function describeOperators(ops: readonly OpDefinition[]): void {
  describe.each(ops.map((op) => [op.name, withCases(op)] as const))('%s', (_, op) =>
    describeOperator(op),
  );
}

function describeOperator(op: TestedOp): void {
  const cases = casesOfAllDTypes(op);

  test('has what its kind needs', () => {
    const { kind, scalar, indexMap } = op;
    if (kind === 'elementwise') expect(scalar).toBeDefined();
    else if (kind === 'injective') expect(indexMap).toBeDefined();
    else if (kind === 'anchor' || kind === 'reduction')
      expect(webgpuLowering(op)).toBeTypeOf('function');
  });

  test('titles of cases differ', () => {
    for (const list of [cases, op.badCases()]) {
      const titles = list.map(({ title }) => title);
      expect(titles).toEqual([...new Set(titles)]);
    }
  });

  test('every attribute is off its default in some case', () => {
    const untested = Object.entries(op.attributes).filter(
      ([name, spec]) => !cases.some((opCase) => changed(opCase, name, spec.default)),
    );
    expect(untested.map(([name]) => name)).toEqual([]);
  });

  test('cases cover every dtype and something empty', () => {
    const used = new Set(cases.flatMap(({ inputs }) => inputs.map((input) => input?.dtype)));
    const accepted = op.inputs.flatMap(({ dtypes }) => dtypes);
    const movesData = op.kind === 'injective';
    const isTested = (dtype: DType) =>
      op.hostOnlyBecause === undefined &&
      KERNEL_DTYPES.has(dtype) &&
      !(movesData && dtype === 'bool');
    expect(accepted.filter((dtype) => isTested(dtype) && !used.has(dtype))).toEqual([]);
    const outputs = cases.map((opCase) => {
      const { inputs, attributes = {} } = opCase;
      if (op.kind === 'dynamic')
        return caseResult(op, opCase, caseTensors(opCase, seededRandom(1)));
      return inferConcreteCall(op, inputs, attributes).output;
    });
    expect(outputs.some(({ shape }) => shape.includes(0))).toBe(true);
  });

  test.each(cases.map((opCase) => [opCase.title, opCase] as const))(
    'the reference writes all of its result: %s',
    (_title, opCase) => {
      const inputs = caseTensors(opCase, seededRandom(1));
      const { attributes, output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
      if (op.kind === 'dynamic') {
        const result = caseResult(op, opCase, inputs);
        const known = result.shape.map((dim, axis) => (output.shape[axis] === -1 ? -1 : dim));
        expect({ dtype: result.dtype, shape: known }).toEqual(output);
        return;
      }
      const results = [0, 77].map((before) => {
        const result = HostTensor.zeros(output.dtype, output.shape);
        fillElements(result, before);
        computeReference(op, staticReference(CORE_OPERATORS.require(op.name)), {
          inputs,
          attributes,
          output: result,
        });
        return result;
      });
      const [first, second] = results;
      if (first === undefined || second === undefined) throw new Error('no results');
      expect(firstDifference(first, second, EXACT)).toBeUndefined();
      expect([...first.elements].every((value) => !Number.isNaN(Number(value)))).toBe(true);
    },
  );

  if (op.kind === 'injective') describeIndexMap(op, cases);

  test('a splat is read as all of its elements', () => {
    const opCase = cases.find(({ inputs }) => inputs.every((input) => input?.shape[0] !== 0));
    if (opCase === undefined) throw new Error('no case with elements');
    const splats = opCase.inputs.map((input) =>
      input === undefined ? undefined : HostTensor.splat(input.dtype, input.shape, 1),
    );
    const whole = splats.map((tensor) =>
      tensor === undefined ? undefined : new HostTensor(tensor.dtype, tensor.shape, tensor.data),
    );
    const expected = caseResult(op, opCase, whole);
    expect(firstDifference(caseResult(op, opCase, splats), expected, EXACT)).toBeUndefined();
  });

  test('its calls survive the binary and the text form of an executable', () => {
    const builder = new ExecBuilder();
    for (const [i, opCase] of cases.entries()) {
      builder.definePrimitive(casePrimitive(op, opCase, `${op.name}_${i}`));
    }
    const executable = builder.build();
    expect(executable.primitives).toHaveLength(cases.length);
    expect(Executable.fromBytes(executable.toBytes()).primitives).toEqual(executable.primitives);
    expect(Executable.fromText(executable.toText()).primitives).toEqual(executable.primitives);
  });

  test('refused calls', () => {
    const messages = op.badCases().map(({ title, inputs, attributes }) => {
      try {
        const { output } = inferConcreteCall(op, inputs, attributes ?? {});
        return `${title}: accepted as ${output.dtype} (${output.shape.join(', ')})`;
      } catch (error) {
        return error instanceof Error
          ? `${title} -> ${error.name}: ${error.message}`
          : 'not an error';
      }
    });
    expect(messages.filter((message) => message.includes(': accepted'))).toEqual([]);
    expect(messages).toMatchSnapshot();
  });
}

function describeIndexMap(op: TestedOp, cases: readonly OpCase[]): void {
  test.each(cases.map((opCase) => [opCase.title, opCase] as const))(
    'its index map says what the reference says: %s',
    (_title, opCase) => {
      const inputs = caseTensors(opCase, seededRandom(1));
      const { attributes, output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
      const moved = HostTensor.zeros(output.dtype, output.shape);
      fillElements(moved, 77);
      injectiveReference(op).reference(inputs, attributes, moved);
      expect(firstDifference(moved, caseResult(op, opCase, inputs), EXACT)).toBeUndefined();
    },
  );
}
