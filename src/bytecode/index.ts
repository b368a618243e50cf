export { HostTensor, type StoredBytesReader } from '../core/tensor/host-tensor.ts';
export type { Dim, DimExpression, DimOperator } from '../core/dims/dim.ts';
export type {
  Attributes,
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
  PrimitiveResult,
  TensorType,
  TensorTypeOf,
} from '../core/contracts/primitive-function.ts';
export {
  BUILTIN_PREFIX,
  type BuiltinName,
  type BuiltinParam,
  BUILTINS,
  type BuiltinSignature,
  MakeCode,
  MatchCode,
} from './builtins.ts';
export { ExecBuilder, type ExecBuilderOptions } from './build/exec-builder.ts';
export type {
  BytecodeFunction,
  Constant,
  DataConstructor,
  DataType,
  ExecutableData,
  FullType,
  FunctionEntry,
  FunctionSignature,
  NamedFunctionType,
  NamedResult,
  ProgramTypes,
  ShapeProgram,
  ShapeStep,
  TensorConstant,
  ValueType,
} from './executable.ts';
export { Executable } from './file/executable-file.ts';
export {
  type DataBlock,
  type DataHashes,
  ExecutableReader,
  type ReaderOptions,
} from './file/executable-reader.ts';
export { looksLikeExecutable } from './file/file-format.ts';
export type {
  CallOptions,
  FunctionBuilder,
  FunctionOperand,
  Label,
  Operand,
  OperandLike,
  RegisterOperand,
} from './build/function-builder.ts';
export type { SourcePlace } from '../core/contracts/source-place.ts';
export { SourceMap } from './source-map.ts';
export type { SerializeOptions } from './file/serialize.ts';
export type { ToTypeScriptOptions } from './text/to-typescript.ts';
export { verifyExecutable } from './verify/verify.ts';
