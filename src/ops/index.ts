export type { DimContext } from '../core/dims/dim-context.ts';
export { HostTensor } from '../core/tensor/host-tensor.ts';
export type { ConcreteTensorType } from '../core/contracts/primitive-function.ts';
export type { Adjoint, AdjointCall, AdjointLookup, AdjointRule } from './adjoint/adjoint.ts';
export type { GraphBuilder } from './adjoint/graph-builder.ts';
export type { GraphTarget, GraphTensor } from './adjoint/graph-target.ts';
export { coreOperators } from './tables/core-operators.ts';
export {
  type AttributeSpec,
  type CodedFunction,
  type CoordinateMap,
  type FormulaFunction,
  type IndexMap,
  type IndexMapContext,
  type IndexMapFacts,
  type IndexSource,
  type InputSpec,
  type KeptOrder,
  type OpDefinition,
  type OpFusion,
  type OpKind,
  type OpStorage,
  type ScalarFunction,
  type Tolerance,
} from './define-op.ts';
export {
  defineOwnElementwise as defineElementwise,
  defineOwnOp as defineOp,
} from './elementwise/define-own-elementwise.ts';
export type { ElementwiseSpec } from './elementwise/elementwise.ts';
export { formula } from './formula/builders.ts';
export { indexExpression } from './index-expression/builders.ts';
export {
  f32,
  i32,
  type KernelConstant,
  type KernelExchange,
  type KernelOperand,
  type KernelParam,
  type KernelRead,
  type KernelSpec,
  type KernelWrite,
  type Lowering,
  type LoweringCall,
  type Operands,
  type ScratchOperand,
  u32,
} from './lowering/lowering.ts';
export type { DynamicReference, OpReference, StaticReference } from './op-reference.ts';
export type { ComposedCall, Operator } from './operator.ts';
export { Operators } from './operators.ts';
