export { compile, type CompileOptions, type Executable } from './compile.ts';
export {
  call,
  callFunction,
  constant,
  func,
  moduleOf,
  projection,
  scalar,
  tuple,
  variable,
} from './ir/build.ts';
export type {
  CallExpr,
  ConstantExpr,
  Expr,
  FunctionAttributes,
  FunctionExpr,
  Module,
  OperatorExpr,
  ProjectionExpr,
  Span,
  TupleExpr,
  VarExpr,
} from './ir/expr.ts';
export { printExpr, printModule } from './ir/print.ts';
export {
  type FunctionTypeNode,
  formatType,
  type TensorTypeNode,
  type TupleTypeNode,
  type Type,
} from './ir/type.ts';
export type { DimBindings } from './passes/bind-dims.ts';
