export function findChromium(): string | undefined;
export function findSwiftShader(): string | undefined;
