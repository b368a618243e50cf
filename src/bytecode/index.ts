export { HostTensor } from '../core/tensor/host-tensor.ts';
export type { Dim } from '../core/dims/dim.ts';
export type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
export { ExecBuilder, type ExecBuilderOptions } from './build/exec-builder.ts';
export type { ExecutableData } from './executable.ts';
export { Executable } from './file/executable-file.ts';
export type { FunctionBuilder } from './build/function-builder.ts';
export type { SerializeOptions } from './file/serialize.ts';
export type { ToTypeScriptOptions } from './text/to-typescript.ts';
