import type { OpenedAdapter } from '../../src/device/webgpu/adapter.ts';
import { type BenchCase, benchCases, inFloat16 } from '../kernels/cases.ts';
import type { Ceilings } from '../kernels/ceilings.ts';
import { type Rate, rateOf } from '../kernels/rate.ts';
import { timeCase } from '../kernels/time-case.ts';
import { messageOf } from '../limited.ts';

/** The time of the kernels of one case, without transfers. */
export type KernelTime =
  | ({ readonly title: string; readonly ms: number } & Rate)
  | { readonly title: string; readonly failure: string };

/** Cases of `npm run bench -- kernels`, or those that `isQuick` stands for; the same in float16 where the adapter has it. */
export function kernelCases(hasFloat16: boolean, isQuick: boolean): readonly BenchCase[] {
  const cases = benchCases().filter(({ title }) => !isQuick || QUICK.test(title));
  return hasFloat16 ? [...cases, ...cases.map(inFloat16)] : cases;
}

/** One of each kind. */
const QUICK =
  /^(matmul 512x512x512|conv 3x3 64-64 56|attention 8 heads 512x512x64|softmax 1024x1024|reduce_sum rows 1024x1024|add 4M)$/;

/** Times a case. Failures are part of the result. */
export async function timeKernelCase(
  opened: OpenedAdapter,
  benchCase: BenchCase,
  ceilings: Ceilings,
): Promise<KernelTime> {
  const { title, work } = benchCase;
  try {
    const { ms } = await timeCase(opened, benchCase);
    return { title, ms, ...rateOf(work, { ms, ceilings }) };
  } catch (error) {
    return { title, failure: messageOf(error) };
  }
}
