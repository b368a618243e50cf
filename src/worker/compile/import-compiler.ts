/** A file of its own, which may come while a model does. */
export function importCompiler() {
  return import('../../frontend/onnx/compile-in-turns.ts');
}
