import { i32, type KernelSpec, u32 } from '../lowering.ts';
import type { Window2d } from './window2d.ts';

/** The parameters that every kernel over a window has. */
export function windowParams(window: Window2d): KernelSpec['params'] {
  return {
    in_h: u32(window.inH),
    in_w: u32(window.inW),
    out_h: u32(window.outH),
    out_w: u32(window.outW),
    kernel_h: u32(window.kernelH),
    kernel_w: u32(window.kernelW),
    stride_h: u32(window.strideH),
    stride_w: u32(window.strideW),
    dilation_h: u32(window.dilationH),
    dilation_w: u32(window.dilationW),
    pad_top: i32(window.padTop),
    pad_left: i32(window.padLeft),
  };
}

export interface Channels {
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
