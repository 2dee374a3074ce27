"""The functions of URScript, by what they are about. Each takes the Execution first."""
