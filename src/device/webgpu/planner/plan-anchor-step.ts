import type { Launch, LaunchBuffer } from '../../../core/launch-plan.ts';
import { rowMajorStrides } from '../../../core/shape.ts';
import type { KernelOperand, KernelRead, KernelSpec, KernelWrite } from '../../../ops/lowering.ts';
import { type ElementType, toStorage, vectorType } from './element-type.ts';
import type { AnchorStep } from './partition-primitive.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { Scope } from './scope.ts';
import { ShaderBuilder } from './shader-builder.ts';
import { ValueEmitter } from './value-emitter.ts';

/** The launches of an anchor or reduction, with its neighbours fused into the hooks. */
export function planAnchorStep(plan: PlanBuilder, step: AnchorStep): void {
  const { call, stored } = step;
  const kernels = call.op.lower?.({
    inputs: call.inputs.map((input) => (input < 0 ? undefined : plan.type(input))),
    output: plan.type(call.value),
    attributes: call.attributes,
    caps: plan.caps,
  });
  if (kernels === undefined) throw new Error(`internal: ${call.op.name} has no lowering`);
  const context: HookContext = {
    plan,
    step,
    destinations: plan.destinations(stored),
    scratch: new Map(),
  };
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
  const shader = new ShaderBuilder();
  for (const extension of kernel.enables ?? []) shader.enable(extension);
  const type = context.plan.elementType(context.step.call.value);
  shader.alias('Element', type);
  shader.alias('Element4', vectorType(type, 4));
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
    const options = { width: 1, access: 'read_write', isAtomic: true } as const;
    const target = shader.bind(operandBuffer(to, context), 'u32', options);
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
  const { width, from } = read;
  const name = `load_${read.hook}${width === 4 ? '4' : ''}`;
  const scope = new Scope();
  let type: ElementType = 'f32';
  let result: string;
  const value = from.kind === 'input' ? step.call.inputs[from.index] : undefined;
  if (value !== undefined && value >= 0) {
    type = plan.elementType(value);
    result = new ValueEmitter(plan, shader).emit(value, { linear: 'i', width }, scope);
  } else if (from.kind === 'input') {
    // The shader does not call the hook of an absent input, but has to compile.
    type = plan.elementType(step.call.value);
    result = `${vectorType(type, width)}()`;
  } else {
    if (from.kind === 'scratch') type = from.type ?? 'f32';
    // One buffer cannot be bound to a dispatch in two ways.
    const isWritten = kernel.writes.some(({ to }) => isSame(to, from));
    const access = isWritten ? 'read_write' : 'read';
    result = `${shader.bind(operandBuffer(from, context), type, { width, access })}[i]`;
  }
  addFunction(shader, {
    head: `fn ${name}(i: u32) -> ${vectorType(type, width)}`,
    lines: [...scope.lines, `return ${result};`],
  });
}

function addStoreHook(shader: ShaderBuilder, write: KernelWrite, context: HookContext): void {
  const { plan, step, destinations } = context;
  const { width, to } = write;
  const suffix = write.hook === '' ? '' : `_${write.hook}`;
  const name = `store${suffix}${width === 4 ? '4' : ''}`;
  const scope = new Scope();
  let type: ElementType = 'f32';
  if (to.kind === 'output') {
    type = plan.elementType(step.call.value);
    const at = { linear: 'i', width } as const;
    scope.define(step.call.value, at, 'value');
    const result = new ValueEmitter(plan, shader).emit(step.output, at, scope);
    const stored = plan.elementType(step.output);
    const place = placeOf(shader, context);
    const lanes = width === 4 && place !== undefined ? [0, 1, 2, 3] : [];
    for (const buffer of destinations) {
      const unit = lanes.length === 0 ? width : 1;
      const target = shader.bind(buffer, stored, { width: unit, access: 'read_write' });
      const store = (at: string, element: string) =>
        scope.lines.push(`${target}[${place?.(at) ?? at}] = ${toStorage(stored, unit, element)};`);
      for (const lane of lanes) store(`i * 4u + ${lane}u`, `${result}[${lane}]`);
      if (lanes.length === 0) store('i', result);
    }
  } else {
    if (to.kind === 'scratch') type = to.type ?? 'f32';
    const target = shader.bind(operandBuffer(to, context), type, { width, access: 'read_write' });
    scope.lines.push(`${target}[i] = value;`);
  }
  addFunction(shader, {
    head: `fn ${name}(i: u32, value: ${vectorType(type, width)})`,
    lines: scope.lines,
  });
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
  if (output === undefined) throw new Error('internal: an anchor without a destination');
  return output;
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
