"""What the program costs, as ratios to baselines that are measured in the same run.

Run them with `python -m tests.benchmarks [NAME …] [--quick]`.
"""
