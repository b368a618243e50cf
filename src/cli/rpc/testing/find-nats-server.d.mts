export const UNPACKED: string;
export function findNatsServer(): string | undefined;
