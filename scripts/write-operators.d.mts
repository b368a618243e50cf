export function writeOperators(): Promise<void>;
