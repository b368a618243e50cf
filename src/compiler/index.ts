export { type CompileLimits, DEFAULT_LIMITS } from '../core/compile-limits.ts';
export {
  compile,
  type CompileOptions,
  type Executable,
  OPTIONAL_PASSES,
  type DevicePair,
  type OptionalPass,
} from './compile.ts';
export {
  type Dispatched,
  type DispatchReport,
  dispatch,
  type FunctionDispatch,
} from './passes/dispatch-by-shape/dispatch.ts';
export { logarithmic, uniform } from './passes/dispatch-by-shape/dispatchers.ts';
export type { FunctionMemoryPlan, MemoryPlanReport } from './passes/plan-memory/memory-report.ts';
export type {
  AxisDispatcher,
  DimRange,
  Interval,
  LogarithmicIntervals,
  UniformIntervals,
} from './passes/dispatch-by-shape/interval.ts';
export {
  assertThat,
  call,
  callFunction,
  constant,
  construct,
  constructorOf,
  constructorPattern,
  customGradient,
  extern,
  float,
  func,
  global,
  gradient,
  ifElse,
  int,
  jvp,
  letIn,
  match,
  moduleOf,
  polymorphic,
  print,
  projection,
  scalar,
  stopGradient,
  tuple,
  tuplePattern,
  variable,
  variableOf,
  vjp,
  wildcard,
} from './ir/build.ts';
export type {
  CallExpr,
  Clause,
  ConstantExpr,
  ConstructorExpr,
  ConstructorPattern,
  DeviceName,
  Expr,
  FunctionAttributes,
  FunctionExpr,
  GlobalExpr,
  IfExpr,
  IntExpr,
  LetExpr,
  MatchExpr,
  Module,
  OperatorExpr,
  Pattern,
  ProjectionExpr,
  Span,
  SymbolBounds,
  TupleExpr,
  TuplePattern,
  VarExpr,
  VarPattern,
  WildcardPattern,
} from './ir/expr.ts';
export type { SourceTexts } from './inference/type-diagnostics.ts';
export type { JsonValue } from './ir/json-data.ts';
export { type JsonModule, moduleFromJson, moduleToJson } from './ir/json.ts';
export { parseExpr, parseModule, type ParseOptions } from './ir/parse.ts';
export { PRELUDE } from './ir/prelude.ts';
export { printExpr, printModule, type PrintOptions } from './ir/print.ts';
export { equalExprs, equalModules, hashExpr, hashModule } from './ir/structural-equal.ts';
export {
  type AdtTypeNode,
  type ConstructorDefinition,
  type FunctionTypeNode,
  formatType,
  INT_TYPE,
  type ScalarTypeNode,
  SHAPE_TYPE,
  type TensorTypeNode,
  type TupleTypeNode,
  type Type,
  type TypeDefinition,
  type TypeVarNode,
} from './ir/type.ts';
export { checkDimNames, type DimBindings } from './passes/bind-dims.ts';
export {
  dispatchByShape,
  type ModuleDispatch,
} from './passes/dispatch-by-shape/dispatch-by-shape.ts';
export type { Pass } from './passes/pass.ts';
export type { AppliedRule, OnRewrite } from './rewriting/rewrite-rule.ts';
export { allPasses, type PassParameters, runPasses } from './pass-table.ts';
export { type VerifyOptions, verifyModule } from './verify/verify-module.ts';
export type { Placement } from './passes/place-devices.ts';
