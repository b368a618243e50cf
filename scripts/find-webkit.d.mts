export function missingWebkit(): string | undefined;
export function webkitCommand(port: number): [command: string, args: string[]];
