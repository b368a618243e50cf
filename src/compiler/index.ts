export type { CompileLimits } from '../core/limits/compile-limits.ts';
export {
  compile,
  type CompileOptions,
  type Executable,
  OPTIONAL_PASSES,
  pipeline,
} from './compile.ts';
export { dispatch } from './passes/dispatch-by-shape/dispatch.ts';
export { chosen, logarithmic, uniform } from './passes/dispatch-by-shape/dispatchers.ts';
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
  optimizerStep,
} from './ir/operators/build-training.ts';
export type { LossName, OptimizerName, ScheduleName } from './ir/operators/training-operators.ts';
export type { CallExpr, Clause, Expr, FunctionExpr, Module, Pattern, VarExpr } from './ir/expr.ts';
export { evaluateModule } from './evaluation/evaluate-module.ts';
export { inferModule } from './inference/infer-module.ts';
export { TypeInference } from './inference/type-inference.ts';
export { moduleFromJson, moduleToJson } from './ir/json/json.ts';
export { parseExpr, parseModule, type ParseOptions } from './ir/text/parse.ts';
export { FIELD_TABLE, fieldsOf, type Node } from './ir/json/field-table.ts';
export { printExpr, printModule } from './ir/text/print.ts';
export {
  childrenOf,
  mapFunctions,
  postOrder,
  rewrite,
  rewriteBodies,
  withChildren,
} from './ir/walk/visit.ts';
export { equalModules, hashModule } from './ir/walk/structural-equal.ts';
export { opaqueType, type Type } from './ir/type.ts';
export { PassBisection } from './instruments/pass-bisection.ts';
export { passDifferences } from './instruments/difference-of-texts.ts';
export type { PassInstrument } from './instruments/pass-instrument.ts';
export { PassTimes } from './instruments/pass-instrument.ts';
export type { Pass, PassContext } from './passes/pass.ts';
export { rewriteRules } from './passes/rewrite-rules.ts';
export { PASS_NAMES } from './passes/pass-names.ts';
export { Captures } from './rewriting/captures.ts';
export type { ExprPattern } from './rewriting/expr-pattern.ts';
export { patterns } from './rewriting/expr-pattern.ts';
export { rewriteModule } from './rewriting/rewrite-module.ts';
export type { RewriteContext, RewriteRule } from './rewriting/rewrite-rule.ts';
export { allPasses, runPasses } from './pass-table.ts';
export { verifyModule } from './verify/verify-module.ts';
