# Makes synthetic.csv: 600 functions of very different size, 4 runs of the baseline and 5 of the
# candidate, of different length. Every function has a variation of its own; every twentieth costs
# 30 % more.
set.seed(20261121)
functions <- 600
runs <- c(baseline1 = 1, baseline2 = 1.4, baseline3 = 0.8, baseline4 = 1.1,
          candidate1 = 0.9, candidate2 = 2.0, candidate3 = 1.2, candidate4 = 1.0, candidate5 = 0.7)
is.candidate <- startsWith(names(runs), "candidate")
share <- exp(rnorm(functions, 4, 2.2))
dispersion <- 0.01 * 12 / rchisq(functions, df = 12) + 0.5 / share / 10
change <- ifelse(seq_len(functions) %% 20 == 0, 1.3, 1)
mean <- outer(share, runs) * ifelse(outer(change, is.candidate), change, 1)
counts <- matrix(rnbinom(length(mean), mu = mean, size = 1 / dispersion), nrow = functions)
colnames(counts) <- names(runs)
kept <- rowSums(counts) >= ncol(counts)
table <- data.frame(`function` = sprintf("f%d", which(kept)), counts[kept, ], check.names = FALSE)
total <- data.frame(`function` = "total", t(colSums(counts)), check.names = FALSE)
write.csv(rbind(total, table), "synthetic.csv", row.names = FALSE, quote = FALSE)
