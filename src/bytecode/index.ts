export { HostTensor } from '../core/host-tensor.ts';
export type { PrimitiveFunction } from '../core/primitive-function.ts';
export {
  BUILTIN_PREFIX,
  type BuiltinName,
  BUILTINS,
  type BuiltinSignature,
  MakeCode,
  MatchCode,
} from './builtins.ts';
export { ExecBuilder, type ExecBuilderOptions } from './exec-builder.ts';
export type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionEntry,
  FunctionSignature,
  NamedResult,
  ShapeProgram,
  ShapeStep,
  TensorConstant,
  ValueType,
} from './executable.ts';
export { Executable } from './executable-file.ts';
export { type DataBlock, ExecutableReader } from './executable-reader.ts';
export { looksLikeExecutable } from './file-format.ts';
export type {
  CallOptions,
  FunctionBuilder,
  FunctionOperand,
  Label,
  Operand,
  OperandLike,
  RegisterOperand,
} from './function-builder.ts';
export { verifyExecutable } from './verify.ts';
