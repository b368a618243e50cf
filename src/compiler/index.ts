export { type CompileLimits, DEFAULT_LIMITS } from '../core/limits/compile-limits.ts';
export {
  compile,
  type CompileOptions,
  type Executable,
  OPTIONAL_PASSES,
  pipeline,
  type DevicePair,
  type OptionalPass,
} from './compile.ts';
export {
  type Dispatched,
  type DispatchReport,
  dispatch,
  type FunctionDispatch,
} from './passes/dispatch-by-shape/dispatch.ts';
export { chosen, logarithmic, uniform } from './passes/dispatch-by-shape/dispatchers.ts';
export type { FunctionMemoryPlan, MemoryPlanReport } from './passes/plan-memory/memory-report.ts';
export type {
  AxisDispatcher,
  ChosenIntervals,
  DimRange,
  Interval,
  IntervalDispatcher,
  LogarithmicIntervals,
  UniformIntervals,
  WrittenInterval,
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
  floatPattern,
  intPattern,
  extern,
  fatal,
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
export {
  allFinite,
  clipByGlobalNorm,
  learningRate,
  lossOf,
  type OptimizerOperands,
  optimizerStep,
} from './ir/operators/build-training.ts';
export {
  LOSS_ATTRIBUTES,
  type LossName,
  OPTIMIZER_SIGNATURES,
  type OptimizerName,
  type OptimizerSignature,
  SCHEDULE_ATTRIBUTES,
  type ScheduleName,
} from './ir/operators/training-operators.ts';
export type {
  CallExpr,
  Clause,
  ConstantExpr,
  ConstructorExpr,
  ConstructorPattern,
  DeviceName,
  Expr,
  FloatPattern,
  FunctionAttributes,
  FunctionExpr,
  GlobalExpr,
  IfExpr,
  IntExpr,
  IntPattern,
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
export { evaluateModule, type EvaluationOptions } from './evaluation/evaluate-module.ts';
export type { ReferenceFunctions } from './evaluation/evaluate-scalar-operator.ts';
export type {
  ReferenceData,
  ReferenceFunction,
  ReferenceTuple,
  ReferenceValue,
} from './evaluation/reference-value.ts';
export { inferModule } from './inference/infer-module.ts';
export { TypeInference } from './inference/type-inference.ts';
export type { SourceTexts } from './inference/checks/type-diagnostics.ts';
export type { JsonValue } from './ir/json/json-data.ts';
export { type JsonModule, moduleFromJson, moduleToJson } from './ir/json/json.ts';
export { parseExpr, parseModule, type ParseOptions } from './ir/text/parse.ts';
export {
  type Family,
  type Field,
  FIELD_TABLE,
  fieldNodes,
  fieldsOf,
  fieldValue,
  keyOf,
  type Node,
} from './ir/json/field-table.ts';
export { PRELUDE } from './ir/prelude.ts';
export { printExpr, printModule, type PrintOptions } from './ir/text/print.ts';
export {
  bindersOf,
  childrenOf,
  mapFunctions,
  postOrder,
  rewrite,
  rewriteBodies,
  withChildren,
} from './ir/walk/visit.ts';
export { equalExprs, equalModules, hashExpr, hashModule } from './ir/walk/structural-equal.ts';
export {
  type AdtTypeNode,
  type ConstructorDefinition,
  type FunctionTypeNode,
  formatType,
  INT_TYPE,
  opaqueType,
  type OpaqueTypeName,
  type ScalarTypeNode,
  SHAPE_TYPE,
  type TensorTypeNode,
  type TupleTypeNode,
  type Type,
  type TypeDefinition,
  type TypeVarNode,
} from './ir/type.ts';
export { checkDimNames, type DimBindings } from './passes/dims/bind-dims.ts';
export {
  dispatchByShape,
  type ModuleDispatch,
} from './passes/dispatch-by-shape/dispatch-by-shape.ts';
export type { InsertedPass } from './insert-passes.ts';
export {
  type BisectionOptions,
  type ChangedResult,
  PassBisection,
  type UncheckedPass,
} from './instruments/pass-bisection.ts';
export { differenceOfTexts } from './instruments/difference-of-texts.ts';
export { passDifferences } from './instruments/pass-differences.ts';
export type { PassInstrument, PassRun } from './instruments/pass-instrument.ts';
export { type PassTime, PassTimes } from './instruments/pass-times.ts';
export type { Pass, PassContext } from './passes/pass.ts';
export { rewriteRules } from './passes/rewrite-rules.ts';
export { PASS_NAMES, type PassName } from './passes/pass-names.ts';
export { Captures } from './rewriting/captures.ts';
export type {
  AnyPattern,
  AttributePattern,
  CallPattern,
  ConstantPattern,
  EitherPattern,
  ExprPattern,
  NumberPattern,
  TypePattern,
} from './rewriting/expr-pattern.ts';
export { parseRules, type ParseRulesOptions } from './rewriting/parse-rules.ts';
export { patterns } from './rewriting/patterns.ts';
export { type Rewriting, rewriteModule } from './rewriting/rewrite-module.ts';
export type {
  AppliedRule,
  OnRewrite,
  RewriteContext,
  RewriteRule,
} from './rewriting/rewrite-rule.ts';
export { allPasses, type PassParameters, runPasses } from './pass-table.ts';
export { type VerifyOptions, verifyModule } from './verify/verify-module.ts';
export type { Placement } from './passes/place-devices.ts';
