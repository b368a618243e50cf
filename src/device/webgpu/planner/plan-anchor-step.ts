import { internalError } from '../../../core/errors.ts';
import type { Launch, LaunchBuffer } from '../../../core/contracts/launch-plan.ts';
import { rowMajorStrides } from '../../../core/tensor/shape.ts';
import type {
  KernelOperand,
  KernelRead,
  KernelSpec,
  KernelWrite,
} from '../../../ops/lowering/lowering.ts';
import { webgpuLowering } from '../../../ops/tables/webgpu.ts';
import { vectorType, wrapped } from './element-type.ts';
import type { AnchorStep } from './partition-primitive.ts';
import { planMapStep } from './plan-map-step.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { Scope } from './scope.ts';
import { ShaderBuilder } from './shader-builder.ts';
import { packFour, readElement, writeElement } from './storage-access.ts';
import { ValueEmitter } from './value-emitter.ts';

/** The launches of an anchor or reduction, with its neighbours fused into the hooks. */
export function planAnchorStep(plan: PlanBuilder, step: AnchorStep): void {
  const { call, stored } = step;
  const kernels = webgpuLowering(call.op)?.({
    inputs: call.inputs.map((input) => (input < 0 ? undefined : plan.type(input))),
    output: plan.type(call.value),
    attributes: call.attributes,
    caps: plan.caps,
  });
  if (kernels === undefined) throw internalError(`${call.op.name} has no lowering`);
  const context: HookContext = {
    plan,
    step,
    destinations: plan.destinations(stored),
    scratch: new Map(),
  };
  if (step.begins !== undefined) {
    planMapStep(plan, { kind: 'map', values: [step.begins], into: context.destinations });
  }
  for (const kernel of kernels) plan.addLaunch(assembleLaunch(kernel, context));
  const [first] = context.destinations;
  if (first !== undefined) plan.markStored(stored, first);
}

interface HookContext {
  readonly plan: PlanBuilder;
  readonly step: AnchorStep;
  readonly destinations: readonly LaunchBuffer[];
  readonly scratch: Map<number, LaunchBuffer>;
}

function assembleLaunch(kernel: KernelSpec, context: HookContext): Launch {
  const shader = new ShaderBuilder(context.plan.caps.shaderF16);
  for (const extension of kernel.enables ?? []) shader.enable(extension);
  const type = context.plan.elementType(context.step.call.value);
  shader.alias('Element', vectorType(type, 1));
  if (type !== 'i64') shader.alias('Element4', vectorType(type, 4));
  const [x, y, z] = kernel.workgroupSize;
  shader.constant('WORKGROUP_SIZE_X', x);
  shader.constant('WORKGROUP_SIZE_Y', y);
  shader.constant('WORKGROUP_SIZE_Z', z);
  for (const [name, value] of Object.entries(kernel.constants)) shader.constant(name, value);
  for (const [name, { type, value }] of Object.entries(kernel.params)) {
    shader.param(value, type, name);
  }
  for (const read of kernel.reads) addLoadHook(shader, { read, kernel }, context);
  for (const write of kernel.writes) addStoreHook(shader, write, context);
  for (const { hook, to } of kernel.exchanges ?? []) {
    const target = shader.bind(operandBuffer(to, context), 'atomic<u32>', 'read_write');
    addFunction(shader, {
      head: `fn exchange_${hook}(i: u32, value: u32) -> u32`,
      lines: [`return atomicExchange(&${target}[i], value);`],
    });
  }
  return {
    label: kernel.name,
    code: shader.code(kernel.source),
    bindings: shader.bindings,
    params: shader.params,
    workgroups: kernel.workgroups,
  };
}

function addLoadHook(
  shader: ShaderBuilder,
  { read, kernel }: { readonly read: KernelRead; readonly kernel: KernelSpec },
  context: HookContext,
): void {
  const { plan, step } = context;
  const { width, from, asWord } = read;
  const name = `load_${read.hook}${width === 4 ? '4' : ''}`;
  const scope = new Scope();
  let type = vectorType('f32', width);
  let result: string;
  const value = from.kind === 'input' ? step.call.inputs[from.index] : undefined;
  if (asWord && value !== undefined) {
    type = 'u32';
    const buffer = plan.storedIn(value);
    result = buffer
      ? `${shader.bind(buffer, type, 'read')}[i]`
      : packFour(
          shader,
          8,
          new ValueEmitter(plan, shader).emit(value, { linear: 'i', width }, scope),
        );
  } else if (value !== undefined && value >= 0) {
    type = vectorType(plan.elementType(value), width);
    result = new ValueEmitter(plan, shader).emit(value, { linear: 'i', width }, scope);
  } else if (from.kind === 'input') {
    // The shader does not call the hook of an absent input, but has to compile.
    type = vectorType(plan.elementType(step.call.value), width);
    result = `${type}()`;
  } else if (from.kind === 'output') {
    const { dtype } = plan.type(step.call.value);
    type = vectorType(plan.elementType(step.call.value), width);
    const access = { buffer: operandBuffer(from, context), dtype, width, index: 'i' } as const;
    result = readElement(shader, access, 'read_write');
  } else {
    type = scratchType(from, width);
    // One buffer cannot be bound to a launch in two ways.
    const isWritten = kernel.writes.some(({ to }) => isSame(to, from));
    const access = isWritten ? 'read_write' : 'read';
    result = `${shader.bind(operandBuffer(from, context), type, access)}[i]`;
  }
  addFunction(shader, {
    head: `fn ${name}(i: u32) -> ${type}`,
    lines: [...scope.lines, `return ${result};`],
  });
}

function addStoreHook(shader: ShaderBuilder, write: KernelWrite, context: HookContext): void {
  const { plan, step } = context;
  const { width, to } = write;
  const suffix = write.hook === '' ? '' : `_${write.hook}`;
  const name = `store${suffix}${width === 4 ? '4' : ''}`;
  const scope = new Scope();
  let type = scratchType(to, width);
  if (to.kind === 'output') {
    const { dtype } = plan.type(step.call.value);
    type = vectorType(plan.elementType(step.call.value), width);
    const at = { linear: 'i', width } as const;
    scope.define(step.call.value, at, wrapped(dtype, width, 'value'));
    storeOutput(shader, new ValueEmitter(plan, shader).emit(step.output, at, scope), {
      ...context,
      width,
      scope,
    });
  } else {
    const target = shader.bind(operandBuffer(to, context), type, 'read_write');
    scope.lines.push(`${target}[i] = value;`);
  }
  addFunction(shader, {
    head: `fn ${name}(i: u32, value: ${type})`,
    lines: scope.lines,
  });
}

interface OutputContext extends HookContext {
  readonly width: 1 | 4;
  readonly scope: Scope;
}

function storeOutput(shader: ShaderBuilder, result: string, context: OutputContext): void {
  const { plan, step, destinations, width, scope } = context;
  const { dtype } = plan.type(step.output);
  const place = placeOf(shader, context);
  for (const buffer of destinations) {
    if (place === undefined) {
      scope.lines.push(writeElement(shader, { buffer, dtype, width, index: 'i' }, result));
    } else if (width === 1) {
      const access = { buffer, dtype, width, index: place('i') } as const;
      scope.lines.push(writeElement(shader, access, result));
    } else {
      for (const lane of [0, 1, 2, 3]) {
        const access = { buffer, dtype, width: 1, index: place(`i * 4u + ${lane}u`) } as const;
        scope.lines.push(writeElement(shader, access, `${result}[${lane}]`));
      }
    }
  }
}

/** Where the element at a position goes, if the axes are stored in another order. */
function placeOf(
  shader: ShaderBuilder,
  { plan, step: { output, stored } }: HookContext,
): ((at: string) => string) | undefined {
  if (stored === output) return undefined;
  const { op, attributes } = plan.callOf(stored);
  const perm = op.indexMap?.permutation?.(attributes) ?? [];
  const from = plan.type(output).shape;
  const inner = rowMajorStrides(from);
  const strides = rowMajorStrides(plan.type(stored).shape);
  const param = (value = 1) => shader.param(value, 'u32');
  const terms = from.map(
    (size, axis) =>
      `i / ${param(inner[axis])} % ${param(size)} * ${param(strides[perm.indexOf(axis)])}`,
  );
  shader.declare('place', `fn place(i: u32) -> u32 { return ${terms.join(' + ') || '0u'}; }`);
  return (at) => `place(${at})`;
}

function operandBuffer(operand: KernelOperand, context: HookContext): LaunchBuffer {
  if (operand.kind === 'scratch') {
    const known = context.scratch.get(operand.index);
    if (known !== undefined) return known;
    const made = context.plan.addScratch(operand.byteLength);
    context.scratch.set(operand.index, made);
    return made;
  }
  const [output] = context.destinations;
  if (output === undefined) throw internalError('an anchor without a destination');
  return output;
}

function scratchType(operand: KernelOperand, width: 1 | 4): string {
  return vectorType((operand.kind === 'scratch' ? operand.type : undefined) ?? 'f32', width);
}

function isSame(a: KernelOperand, b: KernelOperand): boolean {
  return a.kind === 'scratch' && b.kind === 'scratch' && a.index === b.index;
}

function addFunction(shader: ShaderBuilder, { head, lines }: FunctionText): void {
  shader.addFunction([`${head} {`, ...lines.map((line) => `  ${line}`), '}'].join('\n'));
}

interface FunctionText {
  readonly head: string;
  readonly lines: readonly string[];
}
