import direct from '../../shaders/conv2d-direct.wgsl?raw';
import { i32, type KernelSpec, type LoweringCall, u32 } from './lowering.ts';
import { type Window2d, window2d } from './window2d.ts';

/** Kernels of `conv2d`: x (N, C, H, W), w (K, C / groups, R, S), bias (K) or absent. */
export function lowerConv2d(call: LoweringCall): readonly KernelSpec[] {
  const [, , kernelH = 1, kernelW = 1] = call.inputs[1]?.shape ?? [];
  const window = window2d(call, [kernelH, kernelW]);
  const groups = Number(call.attributes.groups ?? 1);
  const pixels = window.outH * window.outW;
  return [
    {
      name: 'conv2d-direct',
      source: direct,
      constants: { HAS_BIAS: call.inputs[2] !== undefined },
      params: {
        ...windowParams(window),
        out_channels: u32(window.outChannels),
        in_channels: u32(window.channels),
        group_in_channels: u32(window.channels / groups),
        group_out_channels: u32(window.outChannels / groups),
      },
      workgroupSize: [64, 1, 1],
      workgroups: [Math.ceil(pixels / 64), window.outChannels, window.batch],
      reads: [
        { hook: 'x', from: { kind: 'input', index: 0 }, width: 1 },
        { hook: 'w', from: { kind: 'input', index: 1 }, width: 1 },
        { hook: 'bias', from: { kind: 'input', index: 2 }, width: 1 },
      ],
      writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
    },
  ];
}

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
