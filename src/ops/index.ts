export type { DimContext } from '../core/dims/dim-context.ts';
export { HostTensor } from '../core/tensor/host-tensor.ts';
export type { GraphBuilder } from './adjoint/graph-builder.ts';
export type { GraphTensor } from './adjoint/graph-target.ts';
export { coreOperators } from './tables/core-operators.ts';
export type { OpDefinition } from './define-op.ts';
export {
  defineOwnElementwise as defineElementwise,
  defineOwnOp as defineOp,
} from './elementwise/define-own-elementwise.ts';
export type { ElementwiseSpec } from './elementwise/elementwise.ts';
export { formula } from './formula/builders.ts';
export { indexExpression } from './index-expression/builders.ts';
export { f32, i32, type KernelSpec, u32 } from './lowering/lowering.ts';
export type { OpReference } from './op-reference.ts';
export type { Operator } from './operator.ts';
export { Operators } from './own-operators.ts';
