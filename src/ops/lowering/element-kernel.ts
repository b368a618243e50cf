import invocationMain from '../../../shaders/lib/invocation-main.wgsl?raw';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import {
  type KernelParam,
  type KernelRead,
  type KernelSpec,
  type KernelWrite,
  u32,
} from './lowering.ts';

/** A read of an input of the call. */
export function readInput(hook: string, index: number, width: 1 | 4 = 1): KernelRead {
  return { hook, from: { kind: 'input', index }, width };
}

/** Reads of the call's first inputs, by these hooks in order, element by element. */
export function readInputs(...hooks: readonly string[]): readonly KernelRead[] {
  return hooks.map((hook, index) => readInput(hook, index));
}

/** The write of the call's output by `store`, or by `store4`. */
export function storeOutput(width: 1 | 4 = 1): readonly KernelWrite[] {
  return [{ hook: '', to: { kind: 'output' }, width }];
}

/** The text of a kernel that calls `compute_at(i: u32)` for the numbers of {@link invocationGrid}. */
export const perInvocation = (source: string): string => source + invocationMain;

/** The grid of a kernel whose invocations are numbered `id.x + id.y * params.row_length`. */
export function invocationGrid(count: number, caps: PlannerCaps, groupSize = 64) {
  const { workgroups, rowLength } = foldGroups(Math.ceil(count / groupSize), caps);
  return {
    params: { count: u32(count), row_length: u32(rowLength * groupSize) },
    workgroupSize: [groupSize, 1, 1],
    workgroups,
  } as const;
}

/** A kernel without its grid and its hooks. */
interface ElementShader extends Pick<KernelSpec, 'name' | 'source'> {
  /** Hooks of the call's inputs, in order. */
  readonly hooks: readonly string[];
  readonly constants?: KernelSpec['constants'];
  /** Parameters by name; plain numbers are u32. */
  readonly params: Readonly<Record<string, number | KernelParam>>;
}

/**
 * A kernel with one invocation for each of `params.count` elements, or for as many groups of them,
 * which it stores to the output.
 */
export function elementKernel(
  count: number,
  caps: PlannerCaps,
  { name, source, hooks, constants = {}, params }: ElementShader,
): readonly [KernelSpec] {
  const grid = invocationGrid(count, caps);
  return [
    {
      ...grid,
      name,
      source: perInvocation(source),
      constants,
      params: { ...grid.params, ...asParams(params) },
      reads: readInputs(...hooks),
      writes: storeOutput(),
    },
  ];
}

/** Fields of the uniform; numbers are u32. */
export function asParams(values: ElementShader['params']): KernelSpec['params'] {
  const entries = Object.entries(values);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'number' ? u32(value) : value]),
  );
}
