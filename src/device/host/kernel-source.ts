import type { CallShapes } from '../../core/contracts/call-shapes.ts';
import type { KernelPart, KernelSource } from '../../core/contracts/kernel-source.ts';
import type {
  Attributes,
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import { elementCount, formatShape } from '../../core/tensor/shape.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { sourceShapes } from '../source-shapes.ts';
import type { HostStep } from './host-plan.ts';
import { planForArguments } from './plan-for-arguments.ts';

/** The steps of a kernel of references. Throws what planning throws. */
export function hostSource(
  primitive: PrimitiveFunction,
  latest: CallShapes | undefined,
  operators: OperatorTable,
): KernelSource {
  const common = { kernel: primitive.name, language: 'host' } as const;
  if (returnsTensor(primitive)) {
    // Elements decide the shape of the result, so there is nothing to plan.
    const parts = primitive.body.map(({ op, inputs, attributes }, i) => ({
      label: op,
      code: printCall(primitive.params.length + i, { op, inputs, attributes }),
    }));
    return { ...common, shapes: [], sizes: 'sample', parts };
  }
  const { sizes, params, results } = sourceShapes(primitive, latest);
  const types = [...primitive.params, ...primitive.results.map(({ type }) => type)];
  const shapes = [...params, ...results];
  const concrete = types.map(({ dtype }, i) => ({ dtype, shape: shapes[i] ?? [] }));
  const plan = planForArguments(primitive, concrete, operators);
  const parts = plan.steps.map((step) => printStep(step, plan.types));
  return { ...common, shapes, sizes, parts };
}

/** A step of references: which operators read and write which values, in words. */
export function printStep(step: HostStep, types: readonly ConcreteTensorType[]): KernelPart {
  const { label } = step;
  const calls = step.kind === 'chain' ? step.calls : [step.call];
  const lines = calls.map(({ op, inputs, attributes, value }) =>
    printCall(value, { op: op.name, inputs, attributes }),
  );
  const values = [...new Set(calls.flatMap(({ inputs, value }) => [...inputs, value]))];
  const head = values.flatMap((value) => {
    const type = types[value];
    return type === undefined ? [] : [`// %${value}: ${type.dtype} ${formatShape(type.shape)}\n`];
  });
  if (step.kind === 'call') return { label, code: `${head.join('')}${lines.join('')}` };
  const count = elementCount(types[step.calls[0]?.value ?? -1]?.shape ?? []);
  const body = lines.map((line) => `  ${line}`).join('');
  const code = `${head.join('')}for each block of ${count} elements {\n${body}}\n`;
  return { label, code };
}

interface PrintedCall {
  readonly op: string;
  readonly inputs: readonly number[];
  readonly attributes: Attributes;
}

function printCall(value: number, { op, inputs, attributes }: PrintedCall): string {
  const operands = inputs.map((input) => (input < 0 ? '-' : `%${input}`)).join(', ');
  const fields = Object.entries(attributes).map(([name, own]) => `${name}: ${JSON.stringify(own)}`);
  const suffix = fields.length === 0 ? '' : ` {${fields.join(', ')}}`;
  return `%${value} = reference ${op}(${operands})${suffix}\n`;
}
