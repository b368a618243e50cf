import { i32, type KernelSpec, u32 } from '../lowering/lowering.ts';
import type { WindowAxis } from './window.ts';

/** The parameters of a kernel over windows along depth, height and width, or the last of these. */
export function windowParams(axes: readonly WindowAxis[]): KernelSpec['params'] {
  const named = axes.map((axis, i) => ({ axis, name: 'dhw'.charAt(3 - axes.length + i) }));
  return Object.fromEntries(
    named.flatMap(({ axis, name }) => [
      [`in_${name}`, u32(axis.size)],
      [`out_${name}`, u32(axis.count)],
      [`kernel_${name}`, u32(axis.kernel)],
      [`stride_${name}`, u32(axis.stride)],
      [`dilation_${name}`, u32(axis.dilation)],
      [`pad_${name}`, i32(axis.padBefore)],
    ]),
  );
}

interface Channels {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly groups: number;
}

/** The parameters that every kernel over groups of channels has. */
export function channelParams({ inChannels, outChannels, groups }: Channels): KernelSpec['params'] {
  return {
    out_channels: u32(outChannels),
    in_channels: u32(inChannels),
    group_in_channels: u32(inChannels / groups),
    group_out_channels: u32(outChannels / groups),
  };
}
