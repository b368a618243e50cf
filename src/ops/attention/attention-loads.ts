import { readInput } from '../lowering/element-kernel.ts';
import { unroll } from '../linear/register-tile.ts';
import type { KernelRead } from '../lowering/lowering.ts';
import type { AttentionProblem } from './attention-problem.ts';

/** WGSL of four elements of a row that begins at `start`, zeros behind its end; of integers without their scale. */
export function fourOf(hook: string, width: number, isInteger: boolean): string {
  const name = hook === 'value' ? 'value_size' : 'size';
  const load = (i: number) => {
    const element = `load_${hook}(start + d * 4u + ${i}u)`;
    return isInteger ? `f32(${element})` : element;
  };
  const element = (i: number) => `select(0.0, ${load(i)}, d * 4u + ${i}u < params.${name})`;
  const four = `load_${hook}4(start / 4u + d)`;
  const whole = isInteger ? `vec4<f32>(${four})` : four;
  return `fn ${hook}_four(start: u32, d: u32) -> vec4<f32> {
  return ${width % 4 === 0 ? whole : `vec4<f32>(${unroll(4, element, ', ')})`};
}
`;
}

/** Reads of the scales of keys and values, by the numbers of their rows. */
export const scaleReads = ({ isScaled }: AttentionProblem): readonly KernelRead[] =>
  isScaled ? [readInput('key_scale', 4), readInput('value_scale', 5)] : [];
