/**
 * The work of a WebGPU device to run one primitive function on given shapes, as plain data. Plans
 * are made by a pure function, so that they can be tested and printed without a GPU.
 */
export interface LaunchPlan {
  readonly launches: readonly Launch[];
  /** Sizes of temporary buffers that live for this call only. */
  readonly scratchByteLengths: readonly number[];
}

export interface Launch {
  /** Kernel name for profiles and labels, such as `matmul_direct`. */
  readonly label: string;
  /** Complete WGSL. Equal text is compiled once per device. Entry point: `main`. */
  readonly code: string;
  /** Buffers of group 0 at bindings 1, 2, …; binding 0 is the parameter uniform, if any. */
  readonly bindings: readonly LaunchBinding[];
  /** Words of the uniform at binding 0 (`var<uniform> params: Params`); empty for none. */
  readonly params: Uint32Array;
  /** Workgroups per dimension, each at most 65,535. Any zero: nothing is launched. */
  readonly workgroups: readonly [number, number, number];
}

export interface LaunchBinding {
  readonly buffer: LaunchBuffer;
  readonly access: 'read' | 'read_write';
}

/** A tensor argument of the primitive call (parameters first, then results), or a scratch buffer. */
export type LaunchBuffer =
  | { readonly kind: 'argument'; readonly index: number }
  | { readonly kind: 'scratch'; readonly index: number };

/** Kinds of adapters that want different kernels. */
export type AdapterClass = 'software' | 'integrated' | 'discrete';

/** The facts that the planner may know of an adapter. */
export interface PlannerCaps {
  readonly adapterClass: AdapterClass;
  readonly subgroups: boolean;
  /** 0 when there are no subgroups. */
  readonly subgroupMinSize: number;
  readonly shaderF16: boolean;
  readonly maxStorageBuffersPerShaderStage: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupsPerDimension: number;
  readonly maxStorageBufferBindingSize: number;
  /** Choices that were measured on the very adapter. */
  readonly choices?: VariantChoices | undefined;
}

/** Which of several reasonable variants a kernel takes. */
export interface VariantChoices {
  /** Undefined where the planner's first choice stays. */
  pick<Variant>(kind: VariantKind, place: VariantPlace<Variant>): Variant | undefined;
}

/** The kernels that have variants; `tuning/` lists them. */
export type VariantKind = 'matmul' | 'reduction' | 'convolution' | 'window' | 'rows' | 'attention';

export interface VariantPlace<Variant> {
  readonly first: Variant;
  readonly problem: object;
  readonly caps: PlannerCaps;
}
